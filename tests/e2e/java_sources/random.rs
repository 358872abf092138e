//! Random programs of classes that extend, hold and return each other. Their methods follow
//! members from class to class without naming the classes between.

use super::oracle::*;

const CLASSES: usize = 9;

#[derive(Clone)]
struct Class {
    /// An earlier class.
    above: Option<usize>,
    /// By number: the class of the field.
    fields: Vec<(usize, usize)>,
    /// By number: the class of the parameter, the class of the result. Names are reused, so
    /// methods overload or override each other.
    methods: Vec<(usize, usize, usize)>,
    constants: Vec<(usize, usize)>,
    /// Statements, each an expression.
    body: Vec<String>,
    hidden: usize,
}

#[derive(Clone)]
struct World(Vec<Class>);

impl World {
    fn new(chance: &mut Chance) -> World {
        let mut world = World(Vec::new());
        for at in 0..CLASSES {
            let class = Class {
                above: (at > 0 && chance.one_in(2)).then(|| chance.below(at)),
                fields: (0..chance.below(3))
                    .map(|name| (name, chance.below(CLASSES)))
                    .collect(),
                methods: Vec::new(),
                constants: (0..chance.below(2))
                    .map(|name| (name, chance.below(9)))
                    .collect(),
                body: Vec::new(),
                hidden: 0,
            };
            world.0.push(class);
        }
        for at in 0..CLASSES {
            for _ in 0..1 + chance.below(3) {
                let method = (
                    chance.below(3),
                    chance.below(CLASSES),
                    chance.below(CLASSES),
                );
                world.add_method(at, method);
            }
        }
        for at in 0..CLASSES {
            for _ in 0..2 {
                let statement = world.expression(at, chance);
                world.0[at].body.push(statement);
            }
        }
        world
    }

    fn above(&self, at: usize) -> Vec<usize> {
        let mut all = vec![at];
        while let Some(above) = self.0[*all.last().unwrap()].above {
            all.push(above);
        }
        all
    }

    /// A method with the same name and parameter overrides, and returns the same.
    fn add_method(&mut self, at: usize, (name, takes, returns): (usize, usize, usize)) {
        let related =
            |other: &usize| self.above(*other).contains(&at) || self.above(at).contains(other);
        let is_taken = (0..self.0.len()).filter(related).any(|class| {
            let mut known = self.0[class].methods.iter();
            known.any(|known| (known.0, known.1) == (name, takes))
        });
        if !is_taken {
            self.0[at].methods.push((name, takes, returns));
        }
    }

    /// An expression that starts at an object of class `at` and follows members, some of them
    /// inherited.
    fn expression(&self, at: usize, chance: &mut Chance) -> String {
        let start = if chance.one_in(2) {
            at
        } else {
            chance.below(CLASSES)
        };
        let mut text = match start == at {
            true => "this".to_owned(),
            false => format!("new K{start}()"),
        };
        let mut class = start;
        for _ in 0..1 + chance.below(4) {
            let all = self.above(class);
            let from = all[chance.below(all.len())];
            let Class {
                fields, methods, ..
            } = &self.0[from];
            match (chance.below(2), fields.is_empty(), methods.is_empty()) {
                (0, false, _) | (1, false, true) => {
                    let (name, of) = fields[chance.below(fields.len())];
                    // A nearer field hides it.
                    let nearest = all
                        .iter()
                        .flat_map(|one| &self.0[*one].fields)
                        .find(|known| known.0 == name);
                    text.push_str(&format!(".f{name}"));
                    class = nearest.map_or(of, |known| known.1);
                }
                (_, _, false) => {
                    let (name, takes, returns) = methods[chance.below(methods.len())];
                    text.push_str(&format!(".m{name}((K{takes}) null)"));
                    class = returns;
                }
                _ => break,
            }
        }
        let constants = &self.0[class].constants;
        if let Some((name, _)) = constants.first() {
            text = format!("{text}.C{name}");
        } else if !text.ends_with(')') {
            text.push_str(".toString()");
        }
        text
    }

    fn edit(&mut self, chance: &mut Chance) {
        let at = chance.below(CLASSES);
        match chance.below(9) {
            0 => {
                let statement = self.expression(at, chance);
                self.0[at].body.push(statement);
            }
            1 => self.add_method(
                at,
                (
                    chance.below(3),
                    chance.below(CLASSES),
                    chance.below(CLASSES),
                ),
            ),
            2 => {
                // A more specific method.
                if let Some((name, takes, returns)) = self.0[at].methods.first().copied() {
                    let below: Vec<usize> = (0..CLASSES)
                        .filter(|one| self.above(*one)[1..].contains(&takes))
                        .collect();
                    if !below.is_empty() {
                        self.add_method(at, (name, below[chance.below(below.len())], returns));
                    }
                }
            }
            3 => {
                if let Some(method) = self.0[at].methods.first_mut() {
                    method.2 = chance.below(CLASSES);
                }
            }
            4 => self.0[at].fields.push((5, chance.below(CLASSES))),
            5 => {
                for constant in &mut self.0[at].constants {
                    constant.1 += 1;
                }
            }
            6 if at > 0 => self.0[at].above = Some(chance.below(at)),
            7 => self.0[at].hidden += 1,
            _ => {
                if let Some(field) = self.0[at].fields.first_mut() {
                    field.1 = chance.below(CLASSES);
                }
            }
        }
    }

    fn program(&self) -> Program {
        let mut program = Program::new();
        for (at, class) in self.0.iter().enumerate() {
            // Classes with odd numbers are in another package, which sees all of the first.
            let package = ["a", "b"][at % 2];
            let mut text =
                format!("package {package};\nimport a.*; import b.*;\npublic class K{at}");
            if let Some(above) = class.above {
                text.push_str(&format!(" extends K{above}"));
            }
            text.push_str(" {\n");
            for (name, of) in &class.fields {
                text.push_str(&format!("public K{of} f{name};\n"));
            }
            for (name, value) in &class.constants {
                text.push_str(&format!("public static final int C{name} = {value};\n"));
            }
            for (name, takes, returns) in &class.methods {
                text.push_str(&format!(
                    "public K{returns} m{name}(K{takes} x) {{ return null; }}\n"
                ));
            }
            text.push_str("Object[] body() { return new Object[] {");
            text.push_str(&class.body.join(", "));
            text.push_str("}; }\n");
            for hidden in 0..class.hidden {
                text.push_str(&format!("private int h{hidden}() {{ return 1; }}\n"));
            }
            text.push_str("}\n");
            program.insert(format!("{package}/K{at}.java"), text);
        }
        program
    }
}

#[test]
#[ignore = "slow: `.ci/all` has it"]
fn what_is_followed_without_a_name_is_followed() {
    if !has_compiler() {
        return;
    }
    let pairs: Vec<(Program, Program)> = (0..150)
        .map(|seed| {
            let mut chance = Chance::new(seed + 1);
            let was = World::new(&mut chance);
            let mut is = was.clone();
            for _ in 0..1 + chance.below(2) {
                is.edit(&mut chance);
            }
            (was.program(), is.program())
        })
        .collect();
    let checked = check(&pairs);
    assert!(checked.compiled * 3 > pairs.len(), "{checked:#?}");
    assert!(checked.differ > checked.compiled / 2, "{checked:#?}");
}
