/* In place of libstdc++'s templates behind the special mathematical functions of C++17, for sources that call none of
 * these. Of one that does, the code calls `sirius_lean_header_lacks`: it is compiled without this folder then
 * (src/program/lean_headers.rs). The functions themselves are libstdc++'s. */
#ifndef SIRIUS_LEAN_SPECIAL_FUNCTIONS_H
#define SIRIUS_LEAN_SPECIAL_FUNCTIONS_H

extern "C" void sirius_lean_header_lacks();

namespace std {
namespace __detail {
#define SIRIUS_LACKED(NAME)                                                             \
    template <typename __Result, typename... __Args> __Result NAME(__Args...) {         \
        ::sirius_lean_header_lacks();                                                   \
        return __Result();                                                              \
    }
SIRIUS_LACKED(__assoc_laguerre)
SIRIUS_LACKED(__assoc_legendre_p)
SIRIUS_LACKED(__beta)
SIRIUS_LACKED(__comp_ellint_1)
SIRIUS_LACKED(__comp_ellint_2)
SIRIUS_LACKED(__comp_ellint_3)
SIRIUS_LACKED(__conf_hyperg)
SIRIUS_LACKED(__cyl_bessel_i)
SIRIUS_LACKED(__cyl_bessel_j)
SIRIUS_LACKED(__cyl_bessel_k)
SIRIUS_LACKED(__cyl_neumann_n)
SIRIUS_LACKED(__ellint_1)
SIRIUS_LACKED(__ellint_2)
SIRIUS_LACKED(__ellint_3)
SIRIUS_LACKED(__expint)
SIRIUS_LACKED(__hyperg)
SIRIUS_LACKED(__laguerre)
SIRIUS_LACKED(__poly_hermite)
SIRIUS_LACKED(__poly_legendre_p)
SIRIUS_LACKED(__riemann_zeta)
SIRIUS_LACKED(__sph_bessel)
SIRIUS_LACKED(__sph_legendre)
SIRIUS_LACKED(__sph_neumann)
#undef SIRIUS_LACKED
template <typename __Number, typename... __Args> void __airy(__Args &&...) { ::sirius_lean_header_lacks(); }
} // namespace __detail
} // namespace std

#endif
