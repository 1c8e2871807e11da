//! Enums whose arms have names: in columns, labels and documents.

/// Declares an enum with a name for each arm, all arms in their order (`ALL`), and their number
/// (`COUNT`).
#[macro_export]
#[doc(hidden)]
macro_rules! named {
    ($(#[$about:meta])* $Name:ident: $($(#[$doc:meta])* $arm:ident = $name:literal,)+) => {
        $(#[$about])*
        pub enum $Name {
            $($(#[$doc])* $arm,)+
        }

        impl $Name {
            /// Every one, in their order.
            pub const ALL: [$Name; $Name::COUNT] = [$($Name::$arm),+];
            /// How many there are.
            pub const COUNT: usize = [$($name),+].len();

            /// The name in columns, labels and documents.
            pub const fn name(self) -> &'static str {
                match self {
                    $($Name::$arm => $name,)+
                }
            }
        }
    };
}
