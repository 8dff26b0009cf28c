//! The forms that one value can have, distinguished by their JSON type.
//!
//! Most keywords of JSON Schema apply to one type only, so forms of different types can be combined in one
//! schema without `anyOf`: an error is then reported by the violated keyword, at its own place. Only `enum`
//! applies to every type; names together with another form, and two forms of a table, need `anyOf`.
use serde_json::{Map, Value, json};

/// The accepted values of each type.
#[derive(Clone, Default)]
pub struct Forms {
    text: Option<Text>,
    number: Option<Number>,
    flag: bool,
    array: Option<Value>,
    objects: Vec<Value>,
    /// Whether the objects are actual tables, not values with their sources.
    tables: bool,
}

#[derive(Clone)]
enum Text {
    Names(Vec<&'static str>),
    Percentage,
    Any(Vec<String>),
}

#[derive(Clone)]
enum Number {
    Between(&'static str, u64, u64),
    OneOf(Vec<u64>),
    /// From a thousandth on.
    Thousandths(u64),
}

impl Forms {
    /// Any text, with examples.
    pub fn add_text(&mut self, examples: &[&str]) {
        let more = examples.iter().map(|&example| example.to_owned());
        let mut all = self.examples();
        all.splice(0..0, more);
        self.text = Some(Text::Any(all));
    }

    /// One of these texts; together with other texts they are examples.
    pub fn add_names(&mut self, names: impl Iterator<Item = &'static str>) {
        if self.text.is_none() {
            self.text = Some(Text::Names(names.collect()));
        } else {
            let all = self.examples().into_iter().chain(names.map(str::to_owned)).collect();
            self.text = Some(Text::Any(all));
        }
    }

    pub fn add_percentage(&mut self) {
        self.text = Some(match self.text {
            None => Text::Percentage,
            Some(_) => Text::Any(self.examples().into_iter().chain(["10%".to_owned()]).collect()),
        });
    }

    fn examples(&self) -> Vec<String> {
        match &self.text {
            Some(Text::Any(examples)) => examples.clone(),
            Some(Text::Names(names)) => names.iter().map(|&name| name.to_owned()).collect(),
            Some(Text::Percentage) => vec!["70%".to_owned()],
            None => Vec::new(),
        }
    }

    /// A number within these bounds; two single numbers become a choice of either.
    pub fn add_number(&mut self, what: &'static str, least: u64, most: u64) {
        self.number = Some(match self.number.take() {
            Some(Number::Between(_, only, _)) if least == most => Number::OneOf(vec![only, least]),
            _ => Number::Between(what, least, most),
        });
    }

    /// A number from a thousandth on.
    pub fn add_thousandths(&mut self, most: u64) {
        self.number = Some(Number::Thousandths(most));
    }

    pub fn add_flag(&mut self) {
        self.flag = true;
    }

    pub fn add_array(&mut self, array: Value) {
        self.array = Some(array);
    }

    pub fn add_object(&mut self, object: Value) {
        self.objects.push(object);
    }

    pub fn add_table(&mut self, table: Value) {
        self.objects.push(table);
        self.tables = true;
    }

    /// Whether a table is the only form.
    pub fn is_table(&self) -> bool {
        self.tables && self.text.is_none() && self.number.is_none() && !self.flag && self.array.is_none()
    }

    /// Each form separately.
    fn apart(&self) -> Vec<Value> {
        let mut forms = Vec::new();
        match &self.text {
            Some(Text::Names(names)) => forms.push(json!({ "type": "string", "enum": names })),
            Some(Text::Percentage) => {
                forms.push(
                    json!({ "type": "string", "pattern": r"^\s*[0-9._]+\s*%\s*$", "examples": ["70%"] }),
                );
            }
            Some(Text::Any(examples)) if examples.is_empty() => forms.push(json!({ "type": "string" })),
            Some(Text::Any(examples)) => forms.push(json!({ "type": "string", "examples": examples })),
            None => {}
        }
        match &self.number {
            Some(Number::Between(what, least, most)) => {
                forms.push(json!({ "type": what, "minimum": least, "maximum": most }));
            }
            Some(Number::Thousandths(most)) => {
                forms.push(json!({ "type": "number", "minimum": 0.001, "maximum": most }));
            }
            Some(Number::OneOf(numbers)) => forms.push(json!({ "type": "integer", "enum": numbers })),
            None => {}
        }
        if self.flag {
            forms.push(json!({ "type": "boolean" }));
        }
        let typed = |what: &str, form: &Value| {
            let mut form = form.clone();
            form["type"] = json!(what);
            form
        };
        forms.extend(self.objects.iter().map(|object| typed("object", object)));
        forms.extend(self.array.iter().map(|array| typed("array", array)));
        forms
    }

    /// All forms combined in one schema.
    pub fn render(&self) -> Value {
        let mut forms = self.apart();
        if forms.len() == 1 {
            return forms.swap_remove(0);
        }
        if self.objects.len() > 1 || forms.iter().any(|form| form.get("enum").is_some()) {
            return json!({ "anyOf": forms });
        }
        let types: Vec<Value> = forms.iter().filter_map(|form| form.get("type").cloned()).collect();
        let mut all = Map::new();
        all.insert("type".to_owned(), Value::Array(types));
        for form in forms {
            let Value::Object(words) = form else { continue };
            all.extend(words.into_iter().filter(|(word, _)| word != "type"));
        }
        Value::Object(all)
    }
}
