//! `section!`: a struct of raw values, its reader and its description, from one declaration.
//!
//! ```text
//! section! {
//!     facts: true,
//!     /// What the section is about.
//!     pub struct SettleRaw {
//!         /// What the key means.
//!         head_switch: Span = "0s",
//!     }
//! }
//! ```

#[macro_export]
macro_rules! section {
    (
        facts: $facts:literal,
        $( exclusive: $exclusive:expr, )?
        $(#[doc = $doc:literal])+
        pub struct $name:ident {
            $( $(#[doc = $key_doc:literal])+ $key:ident : $type:ty = $default:literal, )*
        }
    ) => {
        $(#[doc = $doc])+
        #[derive(Clone, Debug, Default)]
        pub struct $name {
            $( $(#[doc = $key_doc])+ pub $key: Option<$crate::keys::At<$type>>, )*
            /// The source of the facts that have none of their own.
            pub own_source: $crate::keys::Source,
            /// Keys that are set but could not be read.
            pub unreadable: Vec<&'static str>,
        }

        impl $crate::keys::Read for $name {
            fn kind() -> $crate::keys::Kind {
                use $crate::keys::{Key, Kind, Section};
                let keys = vec![$( Key {
                    name: stringify!($key),
                    doc: concat!($($key_doc, "\n"),+).trim().replace("\n ", "\n"),
                    default: $default,
                    kind: <$type as $crate::keys::Read>::kind(),
                }, )*];
                let doc = concat!($($doc, "\n"),+).trim().replace("\n ", "\n");
                let exclusive = Self::EXCLUSIVE;
                Kind::Table(Section { name: stringify!($name), doc, facts: $facts, keys, exclusive })
            }

            fn read(node: &$crate::text::tree::Node, log: &mut $crate::text::problem::Log) -> Option<Self> {
                let $crate::text::tree::Value::Table(table) = &node.value else {
                    $crate::keys::read::wrong_type(node, &Self::kind(), log);
                    return None;
                };
                let mut raw = Self::default();
                for entry in &table.entries {
                    match entry.key.as_str() {
                        $( stringify!($key) => {
                            raw.$key = $crate::keys::read::read_entry(entry, $facts, log);
                            if raw.$key.is_none() {
                                raw.unreadable.push(stringify!($key));
                            }
                        } )*
                        _ if $facts && raw.own_source.take(entry, log) => {}
                        _ if log.is_full() => {}
                        _ => {
                            let kind = Self::kind();
                            let keys = kind.section().map_or(&[][..], |section| &section.keys);
                            $crate::keys::read::unknown_key(entry, keys, $facts, log);
                        }
                    }
                }
                $crate::keys::section::check_forms(&raw.set(), Self::EXCLUSIVE, log);
                Some(raw)
            }

            fn write(&self, out: &mut String) {
                out.push('{');
                $( if let Some(at) = &self.$key {
                    out.push_str(concat!(stringify!($key), "="));
                    $crate::keys::Read::write(&at.value, out);
                    out.push(';');
                } )*
                out.push('}');
            }

            fn over(self, mut below: Self) -> Self {
                below.clear(&$crate::keys::section::displaced(&self.set(), Self::EXCLUSIVE));
                let mut unreadable = self.unreadable;
                unreadable.extend(below.unreadable);
                $name {
                    $( $key: $crate::keys::section::lay_over(self.$key, below.$key), )*
                    own_source: below.own_source,
                    unreadable,
                }
            }
        }

        impl $name {
            /// Groups of forms: the keys of one form exclude those of the others in its group.
            const EXCLUSIVE: &'static [$crate::keys::section::Forms] = {
                #[allow(unused_mut, unused_assignments, reason = "most sections have none")]
                let mut forms: &'static [$crate::keys::section::Forms] = &[];
                $( forms = $exclusive; )?
                forms
            };

            /// The names of the keys that are set, with the places of their values.
            pub fn set(&self) -> Vec<(&'static str, $crate::text::problem::Place)> {
                let mut names = Vec::new();
                $( if let Some(at) = &self.$key { names.push((stringify!($key), at.place)); } )*
                names
            }

            /// Removes these keys.
            pub fn clear(&mut self, names: &[&str]) {
                $( if names.contains(&stringify!($key)) { self.$key = None; } )*
            }

            /// Whether a key has a value that could be read, or is not set.
            #[allow(dead_code, reason = "not every section is asked")]
            pub fn readable(&self, name: &str) -> bool {
                !self.unreadable.contains(&name)
            }
        }
    };
}
pub use section;

use super::read::{At, Read};
use crate::text::problem::{Log, Place};

/// Alternative forms of the same information, each by its keys; a key may belong to several.
pub type Forms = &'static [&'static [&'static str]];

/// Records keys that belong to two different forms.
pub fn check_forms(set: &[(&'static str, Place)], groups: &[Forms], log: &mut Log) {
    for forms in groups {
        let fits = |key: &str| forms.iter().filter(|form| form.contains(&key)).count();
        let mut own = set.iter().filter(|(key, _)| fits(key) > 0);
        let Some(&(first, _)) = own.next() else { continue };
        for &(key, place) in own {
            if !forms.iter().any(|form| form.contains(&first) && form.contains(&key)) {
                let (why, more) = crate::raw::contradiction(first, key);
                let message = format!("`{key}` contradicts `{first}`: {why}");
                log.fault(place, message, format!("keep `{first}` or `{key}`{more}"));
            }
        }
    }
}

/// The keys of the layer below that these keys invalidate, because they belong to another form.
pub fn displaced(set: &[(&'static str, Place)], groups: &[Forms]) -> Vec<&'static str> {
    let names: Vec<&str> = set.iter().map(|(key, _)| *key).collect();
    displaced_by(&names, groups)
}

/// The same, from the names of the keys alone.
pub fn displaced_by(set: &[&str], groups: &[Forms]) -> Vec<&'static str> {
    let mut names = Vec::new();
    for forms in groups {
        let kept = |form: &&[&str]| set.iter().all(|key| form.contains(key) || !in_group(forms, key));
        if !set.iter().any(|key| in_group(forms, key)) {
            continue;
        }
        let keep: Vec<&str> = forms.iter().copied().filter(kept).flatten().copied().collect();
        names.extend(forms.iter().copied().flatten().copied().filter(|name| !keep.contains(name)));
    }
    names
}

fn in_group(forms: Forms, key: &str) -> bool {
    forms.iter().any(|form| form.contains(&key))
}

/// One key's value merged over another's.
pub fn lay_over<T: Read>(above: Option<At<T>>, below: Option<At<T>>) -> Option<At<T>> {
    match (above, below) {
        (Some(above), Some(below)) => {
            Some(At { value: above.value.over(below.value), place: above.place, source: above.source })
        }
        (above, below) => above.or(below),
    }
}
