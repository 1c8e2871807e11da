//! Attributes of a class of Python that are read off what its object holds: a line each.

/// The methods of a class: one for each attribute, with the object under the name that is given,
/// and those that follow. PyO3 takes one block of methods for a class.
macro_rules! attributes {
    (
        $Class:ident as $told:ident {
            $($(#[$doc:meta])* $name:ident: $kind:ty = $value:expr;)+
        }
        $($methods:tt)*
    ) => {
        #[pyo3::pymethods]
        impl $Class {
            $($(#[$doc])*
            #[getter]
            fn $name(&self) -> $kind {
                let $told = self;
                $value
            })+

            $($methods)*
        }
    };
}
pub(crate) use attributes;
