//! The native half of the R package `rarely`; the other half is in `r/`.
//!
//! Every function here returns a value of R's, or a `Problem`, which R raises as a condition. No error of R's passes
//! through Rust code.

mod arguments;
mod document;
mod figure;
mod frame;
mod json;
mod lab;
mod policy;
mod problem;
mod review;
mod values;
mod watch;

use extendr_api::prelude::extendr_module;

extendr_module! {
    mod rarely;
    use document;
    use figure;
    use lab;
    use policy;
    use review;
}
