//! Factors with exchanged rows that programs make on the host and take apart.

use std::ffi::{c_int, c_void};

use super::factors::{Factors, LowerUpper, Pivots, turned};
use super::{
    Given, Settings, Side, SolverError, cusolver_functions, known, pattern, read, sizes, store,
    tolerated, write,
};
use crate::dense::Scalar;
use crate::handles::Handles;

/// What a program holds of a factorisation.
enum Held {
    Nothing,
    Single(LowerUpper<f32>),
    Double(LowerUpper<f64>),
}

static HELD: Handles<Held> = Handles::new();

/// The factors that a program holds, by their type.
trait Kept: Scalar {
    fn keep(factors: LowerUpper<Self>) -> Held;
    fn kept(held: &Held) -> Option<&LowerUpper<Self>>;
}

impl Kept for f32 {
    fn keep(factors: LowerUpper<Self>) -> Held {
        Held::Single(factors)
    }

    fn kept(held: &Held) -> Option<&LowerUpper<Self>> {
        match held {
            Held::Single(factors) => Some(factors),
            _ => None,
        }
    }
}

impl Kept for f64 {
    fn keep(factors: LowerUpper<Self>) -> Held {
        Held::Double(factors)
    }

    fn kept(held: &Held) -> Option<&LowerUpper<Self>> {
        match held {
            Held::Double(factors) => Some(factors),
            _ => None,
        }
    }
}

cusolver_functions! {
    /// What a factorisation finds out.
    fn cusolverSpCreateCsrluInfoHost(held: *mut *mut c_void) {
        // SAFETY: the program passes a writable address or null; the same in this file.
        unsafe { store(held, HELD.open(Held::Nothing)) }
    }

    /// Forgets it.
    fn cusolverSpDestroyCsrluInfoHost(held: *mut c_void) {
        HELD.close(held).map(drop).ok_or(SolverError::INVALID_VALUE)
    }

    /// Looks whether there is such a matrix.
    fn cusolverSpXcsrluAnalysisHost(
        handle: *mut c_void,
        rows: c_int,
        count: c_int,
        settings: *const c_void,
        offsets: *const c_int,
        places: *const c_int,
        held: *mut c_void,
    ) {
        known(handle)?;
        // SAFETY: the program passes such a matrix.
        unsafe { pattern([rows, rows], count, settings, offsets, places).pattern()? };
        HELD.visit(held, |_| ()).ok_or(SolverError::INVALID_VALUE)
    }

    /// How many elements the factors have, without the ones of the lower one.
    fn cusolverSpXcsrluNnzHost(
        handle: *mut c_void,
        lower: *mut c_int,
        upper: *mut c_int,
        held: *mut c_void,
    ) {
        known(handle)?;
        let counts = HELD.visit(held, |held| match held {
            Held::Nothing => None,
            Held::Single(factors) => Some(factors.counts()),
            Held::Double(factors) => Some(factors.counts()),
        });
        let [below, above] = counts.flatten().ok_or(SolverError::INVALID_VALUE)?;
        // SAFETY: as above.
        unsafe {
            store(lower, below as c_int)?;
            store(upper, above as c_int)
        }
    }
}

macro_rules! factorisations {
    ($kind:ty, $size:ident $factor:ident $zero:ident $solve:ident $extract:ident) => {
        cusolver_functions! {
            /// Bytes of what is kept and of a workspace, of which none is used.
            fn $size(
                handle: *mut c_void,
                _rows: c_int,
                _count: c_int,
                _settings: *const c_void,
                _values: *const $kind,
                _offsets: *const c_int,
                _places: *const c_int,
                _held: *mut c_void,
                kept: *mut usize,
                work: *mut usize,
            ) {
                known(handle)?;
                // SAFETY: as above.
                unsafe { sizes(kept, work) }
            }

            /// Factors a matrix; the pivots are the largest elements, whatever the threshold allows.
            fn $factor(
                handle: *mut c_void,
                rows: c_int,
                count: c_int,
                settings: *const c_void,
                values: *const $kind,
                offsets: *const c_int,
                places: *const c_int,
                held: *mut c_void,
                _threshold: $kind,
                _buffer: *mut c_void,
            ) {
                known(handle)?;
                let settings = Settings::Described(settings);
                let given = Given { side: Side::Host, rows, columns: rows, count, settings, values, offsets, places };
                // SAFETY: the program passes such a matrix.
                let factors = LowerUpper::new(&turned(&unsafe { given.lines()? }), Pivots::Largest);
                let kept = HELD.visit(held, |held| *held = <$kind>::keep(factors));
                kept.ok_or(SolverError::INVALID_VALUE)
            }

            /// The first column whose pivot is not above a limit, or -1.
            fn $zero(handle: *mut c_void, held: *mut c_void, limit: $kind, position: *mut c_int) {
                known(handle)?;
                let limit = tolerated(limit)?;
                let found = HELD.visit(held, |held| Some(<$kind>::kept(held)?.without_pivot(limit)));
                let found = found.flatten().ok_or(SolverError::INVALID_VALUE)?;
                // SAFETY: as above.
                unsafe { store(position, found.map_or(-1, |column| column as c_int)) }
            }

            /// Solves a system.
            fn $solve(
                handle: *mut c_void,
                rows: c_int,
                right: *const $kind,
                solution: *mut $kind,
                held: *mut c_void,
                _buffer: *mut c_void,
            ) {
                known(handle)?;
                let rows = usize::try_from(rows).map_err(|_| SolverError::INVALID_VALUE)?;
                // SAFETY: the program passes such vectors.
                let right = unsafe { read(Side::Host, right, rows)? };
                let found = HELD.visit(held, |held| {
                    let factors = <$kind>::kept(held)?;
                    (factors.is_complete(rows)).then(|| factors.solve(right))
                });
                let found = found.flatten().ok_or(SolverError::INVALID_VALUE)?;
                // SAFETY: as above.
                unsafe { write(Side::Host, solution, &found) }
            }

            /// Gives the orders of rows and columns and both factors by rows, the lower one without its ones.
            fn $extract(
                handle: *mut c_void,
                row_order: *mut c_int,
                column_order: *mut c_int,
                lower_settings: *const c_void,
                lower_values: *mut $kind,
                lower_offsets: *mut c_int,
                lower_places: *mut c_int,
                upper_settings: *const c_void,
                upper_values: *mut $kind,
                upper_offsets: *mut c_int,
                upper_places: *mut c_int,
                held: *mut c_void,
                _buffer: *mut c_void,
            ) {
                known(handle)?;
                let parts = HELD.visit(held, |held| {
                    let factors = <$kind>::kept(held)?;
                    factors.parts()
                });
                let (rows, lower, upper) = parts.flatten().ok_or(SolverError::INVALID_VALUE)?;
                let number = |place: usize| place as c_int;
                let columns: Vec<c_int> = (0..rows.len()).map(number).collect();
                let rows: Vec<c_int> = rows.into_iter().map(number).collect();
                let factors = [
                    (lower, lower_settings, lower_values, lower_offsets, lower_places),
                    (upper, upper_settings, upper_values, upper_offsets, upper_places),
                ];
                // SAFETY: the program has room for what it was told.
                unsafe {
                    write(Side::Host, row_order, &rows)?;
                    write(Side::Host, column_order, &columns)?;
                    for (lines, settings, to_values, to_offsets, to_places) in factors {
                        let base = Settings::Described(settings).base()?;
                        let (mut offsets, mut places, mut values) = (vec![base], Vec::new(), Vec::new());
                        for line in lines {
                            for (column, value) in line {
                                places.push(number(column) + base);
                                values.push(value);
                            }
                            offsets.push(number(places.len()) + base);
                        }
                        write(Side::Host, to_offsets, &offsets)?;
                        write(Side::Host, to_places, &places)?;
                        write(Side::Host, to_values, &values)?;
                    }
                }
                Ok(())
            }
        }
    };
}

factorisations!(f32, cusolverSpScsrluBufferInfoHost cusolverSpScsrluFactorHost cusolverSpScsrluZeroPivotHost
    cusolverSpScsrluSolveHost cusolverSpScsrluExtractHost);
factorisations!(f64, cusolverSpDcsrluBufferInfoHost cusolverSpDcsrluFactorHost cusolverSpDcsrluZeroPivotHost
    cusolverSpDcsrluSolveHost cusolverSpDcsrluExtractHost);
