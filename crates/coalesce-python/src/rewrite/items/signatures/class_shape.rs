//! What a class takes and has, as far as its own text says it.

use std::collections::BTreeMap;

use ruff_python_ast::{self as ast, Expr, Stmt};

use super::{Parameters, Shape, method, name_of, parameters};

/// What calling a data class takes; none when that is not plain to see.
fn fields(class: &ast::StmtClassDef) -> Option<Parameters> {
    let [only] = class.decorator_list.as_slice() else {
        return None;
    };
    let keywords = takes_keywords_alone(&only.expression)
        .filter(|_| name_of(&only.expression) == "dataclass")?;
    let mut found = Parameters::default();
    let fields = class.body.iter().filter_map(Stmt::as_ann_assign_stmt);
    for field in fields {
        let (Expr::Name(name), false) = (&*field.target, is_special(&field.annotation)?) else {
            continue;
        };
        // `field(…)` says itself whether it is one.
        if matches!(field.value.as_deref(), Some(Expr::Call(_))) {
            return None;
        }
        let kind = match keywords {
            true => &mut found.keyword_only,
            false => &mut found.positional,
        };
        kind.push((name.id.to_string(), field.value.is_some()));
    }
    Some(found)
}

/// Whether the decorator of a data class makes all parameters ones by keyword; none where that is not plain to see, or
/// no initializer is made.
fn takes_keywords_alone(decorator: &Expr) -> Option<bool> {
    let call = match decorator {
        Expr::Call(call) => call,
        Expr::Name(_) | Expr::Attribute(_) => return Some(false),
        _ => return None,
    };
    let mut keywords = false;
    for keyword in &call.arguments.keywords {
        match keyword.arg.as_ref()?.as_str() {
            "kw_only" => keywords = is_true(&keyword.value)?,
            "init" => is_true(&keyword.value)?.then_some(())?,
            _ => {}
        }
    }
    Some(keywords)
}

fn is_true(value: &Expr) -> Option<bool> {
    match value {
        Expr::BooleanLiteral(literal) => Some(literal.value),
        _ => None,
    }
}

/// Whether a type says that the name is no field; none for types that say more than that.
fn is_special(annotation: &Expr) -> Option<bool> {
    let last = match annotation {
        Expr::Subscript(subscript) => name_of(&subscript.value),
        other => name_of(other),
    };
    match last {
        "InitVar" | "KW_ONLY" => None,
        last => Some(last == "ClassVar"),
    }
}

/// What the body of a class says of it.
#[derive(Default)]
struct ClassBody {
    members: Vec<String>,
    initializer: Option<Parameters>,
    methods: BTreeMap<String, Parameters>,
}

impl ClassBody {
    fn read(&mut self, statement: &Stmt) {
        let named = |target: &Expr| match target {
            Expr::Name(name) => Some(name.id.to_string()),
            _ => None,
        };
        match statement {
            Stmt::FunctionDef(function) => self.method(function),
            Stmt::ClassDef(inner) => self.members.push(inner.name.to_string()),
            Stmt::Assign(assign) => {
                let targets = assign.targets.iter();
                self.members.extend(targets.filter_map(named));
            }
            Stmt::AnnAssign(assign) => self.members.extend(named(&assign.target)),
            _ => {}
        }
    }

    fn method(&mut self, function: &ast::StmtFunctionDef) {
        let name = function.name.to_string();
        self.members.push(name.clone());
        match method(function) {
            Some(parameters) => drop(self.methods.insert(name, parameters)),
            None => drop(self.methods.remove(&name)),
        }
        if matches!(function.name.as_str(), "__init__" | "__new__") {
            self.initializer = Some(parameters(&function.parameters, 1));
        }
    }
}

/// Whether a class has more above it than `object`, or says more in its head.
fn has_bases(class: &ast::StmtClassDef) -> bool {
    let is_object = |base: &Expr| matches!(base, Expr::Name(name) if name.id.as_str() == "object");
    class.arguments.as_ref().is_some_and(|arguments| {
        !arguments.keywords.is_empty() || !arguments.args.iter().all(is_object)
    })
}

/// What is known of a class by its text.
pub(super) fn class_shape(class: &ast::StmtClassDef) -> Shape {
    let bases = has_bases(class);
    let mut body = ClassBody::default();
    for statement in &class.body {
        body.read(statement);
    }
    let known = !bases && class.decorator_list.is_empty();
    let parameters = match body.initializer {
        Some(initializer) => Some(initializer),
        None => known.then(Parameters::default),
    };
    let parameters = parameters.filter(|_| class.decorator_list.is_empty());
    Shape {
        parameters: parameters.or_else(|| fields(class).filter(|_| !bases)),
        members: known.then_some(body.members),
        methods: body.methods,
        ..Shape::default()
    }
}
