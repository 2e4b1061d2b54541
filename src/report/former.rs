//! Fields of the JSON form that had another name in version 1 and are still written under it, too.
//!
//! Each module here is for `#[serde(flatten, with = "…")]`. The former name is written behind that of
//! today; what is read is the name of today.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

macro_rules! field {
    ($now:ident: $type:ty, once $former:ident) => {
        pub(super) mod $now {
            use super::*;

            #[derive(Serialize)]
            struct Written<'a> {
                $now: &'a $type,
                $former: &'a $type,
            }

            #[derive(Deserialize)]
            struct Read {
                $now: $type,
            }

            pub fn serialize<S: Serializer>(value: &$type, to: S) -> Result<S::Ok, S::Error> {
                let written = Written {
                    $now: value,
                    $former: value,
                };
                written.serialize(to)
            }

            pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<$type, D::Error> {
                Ok(Read::deserialize(from)?.$now)
            }
        }
    };
}

field!(layout: String, once orientation);
field!(layouts: Vec<String>, once orientations);
