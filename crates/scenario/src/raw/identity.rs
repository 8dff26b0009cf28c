//! The identity of a drive or a controller, as typed in its file.
use crate::keys::numbers::Count;
use crate::keys::{choices, section};

section! {
    facts: true,
    /// The identity of a drive or a controller: for people, except for a drive's `interface`, `year` and `form_factor`.
    pub struct IdentityRaw {
        /// The manufacturer.
        maker: String = "",
        /// The model name on the label.
        model: String = "",
        /// The year of its release, or of its measurement.
        year: Count<1956, 2100> = "",
        /// Its interface. If a drive's `link.standard` is not set, it determines the defaults where queue, cache and
        /// write cache are left out.
        interface: String = "",
        /// The form factor of a drive. It tells a notebook drive from a desktop drive where `firmware.class` is not set.
        form_factor: FormFactor = "unknown",
        /// Capacity, or a class of drives, in words.
        class: String = "",
        /// Notes for the reader.
        notes: String = "",
    }
}

/// The nominal width of a drive's platters, from which its housing has its name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FormFactor {
    Inches5,
    Inches3,
    Inches2,
    Inches1,
}

choices!(FormFactor {
    "5.25in" => FormFactor::Inches5, "drives of the first years";
    "3.5in" => FormFactor::Inches3, "drives for desktops and servers";
    "2.5in" => FormFactor::Inches2, "drives for notebooks, and drives of 10 000 and 15 000 rpm for servers";
    "1.8in" => FormFactor::Inches1, "drives for small notebooks and players";
});
