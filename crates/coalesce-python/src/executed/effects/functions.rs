//! Bodies of functions of the tree, run with what they are given.

use ruff_python_ast::{self as ast, Stmt};
use rustc_hash::FxHashMap;

use super::{
    CallOutcome, Execution, ImportEffects, classes::method_of, names::definitions,
    values::AbstractValue,
};

impl ImportEffects<'_, '_> {
    /// Calls a function of the tree.
    pub(super) fn call_function(
        &self,
        imported: Option<usize>,
        (home, name): (usize, &str),
        given: &AbstractValue,
    ) -> Option<CallOutcome> {
        let key = (imported, home, name.to_owned(), given.clone());
        self.remembered(key, || {
            let source = self.reader.source(home)?;
            let mut found = Vec::new();
            definitions(source.statements(), name, &mut found);
            let mut all: Option<CallOutcome> = None;
            for statement in found {
                let Stmt::FunctionDef(function) = statement else {
                    return None;
                };
                let outcome = self.run((imported, home), function, (None, None), given);
                all = Some(match all {
                    Some(known) => known.or(outcome),
                    None => outcome,
                });
            }
            all
        })
    }

    pub(super) fn remembered(
        &self,
        key: super::CallKey,
        read: impl FnOnce() -> Option<CallOutcome>,
    ) -> Option<CallOutcome> {
        if let Some(known) = self.calls.borrow().get(&key) {
            return known.clone();
        }
        // What calls itself counts as unknown.
        self.calls.borrow_mut().insert(key.clone(), None);
        let found = self.depth.deeper(read).flatten();
        self.calls.borrow_mut().insert(key, found.clone());
        found
    }

    /// Runs the body of a function with what it is given, and with the object that it belongs to, or the class.
    pub(super) fn run(
        &self,
        (imported, home): (Option<usize>, usize),
        function: &ast::StmtFunctionDef,
        (object, class): (Option<AbstractValue>, Option<(usize, String)>),
        given: &AbstractValue,
    ) -> CallOutcome {
        let mut execution = Execution::new(self, home, imported);
        execution.called = true;
        execution.class = class;
        execution.enter(function, object.as_ref(), given);
        execution.suite(&function.body);
        let value = match function.is_async {
            true => AbstractValue::Unknown,
            false => execution.returned.clone(),
        };
        let effect = execution
            .reaches
            .take()
            .map(|(_, what)| format!("`{}` is called there: {what}", function.name));
        CallOutcome { effect, value }
    }

    /// Whether no inner function of a function or method of the tree does more than wrap what it is given.
    pub(super) fn inner_functions(
        &self,
        imported: Option<usize>,
        callee: &AbstractValue,
        given: &AbstractValue,
    ) -> Option<bool> {
        match callee {
            AbstractValue::Function(home, name) => {
                self.inner_functions_of((imported, *home), name, given)
            }
            AbstractValue::Method {
                home,
                class,
                name,
                own,
            } => {
                let text = self.class_text(*home, class)?;
                let object = AbstractValue::instance(*home, class, *own);
                let function = method_of(text.class()?, name)?;
                self.run_inner((imported, *home), function, (Some(object), given))
            }
            _ => None,
        }
    }

    /// The same of a function of the tree, where there is one of that name alone.
    fn inner_functions_of(
        &self,
        (imported, home): (Option<usize>, usize),
        name: &str,
        given: &AbstractValue,
    ) -> Option<bool> {
        let source = self.reader.source(home)?;
        let mut found = Vec::new();
        definitions(source.statements(), name, &mut found);
        let [Stmt::FunctionDef(function)] = found.as_slice() else {
            return None;
        };
        self.run_inner((imported, home), function, (None, given))
    }

    /// Runs a function with what it is given, and then what it gives, or else all functions that it defines, with a
    /// definition. Whether that is harmless; nothing where it defines none.
    fn run_inner(
        &self,
        (imported, home): (Option<usize>, usize),
        function: &ast::StmtFunctionDef,
        (object, given): (Option<AbstractValue>, &AbstractValue),
    ) -> Option<bool> {
        let harmless = self.depth.deeper(|| {
            let mut execution = Execution::new(self, home, imported);
            execution.called = true;
            execution.enter(function, object.as_ref(), given);
            // What its own names are, the functions in it may change.
            execution.suite(&function.body);
            execution.run_returned(&function.body)?;
            Some(execution.reaches.is_none())
        });
        harmless.unwrap_or(Some(false))
    }
}

impl Execution<'_, '_, '_> {
    /// Enters a function: its parameters have what it is given, its other names nothing of the module.
    pub(super) fn enter(
        &mut self,
        function: &ast::StmtFunctionDef,
        object: Option<&AbstractValue>,
        given: &AbstractValue,
    ) {
        let mut scope = self.parameters(&function.parameters, object, given);
        if let Some(
            AbstractValue::Instance { home, class, .. } | AbstractValue::Class(home, class),
        ) = object
        {
            self.class = Some((*home, class.clone()));
        }
        for name in locals(&function.body) {
            scope.entry(name).or_insert(AbstractValue::Constant);
        }
        self.scopes.push(scope);
    }

    /// What the parameters of a function are.
    fn parameters(
        &mut self,
        parameters: &ast::Parameters,
        object: Option<&AbstractValue>,
        given: &AbstractValue,
    ) -> FxHashMap<String, AbstractValue> {
        let mut scope = FxHashMap::default();
        let mut object = object.cloned();
        for parameter in parameters.iter_non_variadic_params() {
            let name = parameter.name().to_string();
            if let Some(object) = object.take() {
                scope.insert(name, object);
                continue;
            }
            let default = self.default_of(parameter);
            scope.insert(name, given.clone().or(default.for_others()));
        }
        let many = AbstractValue::container_of(given.clone());
        let variadic = [&parameters.vararg, &parameters.kwarg];
        for variadic in variadic.into_iter().flatten() {
            scope.insert(variadic.name.to_string(), many.clone());
        }
        scope
    }

    /// What a parameter is where a call gives it nothing.
    fn default_of(&mut self, parameter: &ast::ParameterWithDefault) -> AbstractValue {
        let default = parameter.default.as_deref();
        default.map_or(AbstractValue::Constant, |value| {
            self.effects_free_value(value)
        })
    }
}

/// Names that the body of a function binds, of which none is one of the module.
fn locals(body: &[Stmt]) -> Vec<String> {
    let mut names = super::super::harmless::CalledNames::default();
    ast::visitor::Visitor::visit_body(&mut names, body);
    names.found.into_iter().collect()
}
