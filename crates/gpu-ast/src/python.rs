//! Python's trees, by ruff's parser.

use ruff_python_ast::{
    AnyNodeRef, NodeKind,
    token::TokenKind,
    visitor::source_order::{SourceOrderVisitor, TraversalSignal, walk_module},
};
use ruff_python_parser::{Mode, ParseOptions, parse_unchecked};
use ruff_text_size::Ranged as _;

use crate::{
    build::{Builder, Token},
    error::{AstError, line_of},
    tensors::AstTensors,
};

struct Walk(Builder);

impl<'a> SourceOrderVisitor<'a> for Walk {
    fn enter_node(&mut self, node: AnyNodeRef<'a>) -> TraversalSignal {
        let range = node.range();
        let kind = node.kind() as u32;
        self.0
            .enter(kind, range.start().to_u32(), range.end().to_u32());
        TraversalSignal::Traverse
    }

    fn leave_node(&mut self, _node: AnyNodeRef<'a>) {
        self.0.leave();
    }
}

pub fn parse(text: &str) -> Result<AstTensors, AstError> {
    let parsed = parse_unchecked(text, ParseOptions::from(Mode::Module));
    if let Some(error) = parsed.errors().first() {
        return Err(AstError::Syntax {
            line: line_of(text, error.location.start().to_usize()),
            message: error.error.to_string(),
        });
    }
    let mut walk = Walk(Builder::with_capacity(parsed.tokens().len()));
    walk_module(&mut walk, parsed.syntax());
    let is_word = |kind: TokenKind| {
        let layout = matches!(
            kind,
            TokenKind::Newline | TokenKind::Indent | TokenKind::Dedent | TokenKind::EndOfFile
        );
        !layout && !kind.is_trivia()
    };
    let words = parsed.tokens().iter().filter(|token| is_word(token.kind()));
    let tokens = words.map(|token| Token {
        start: token.start().to_u32(),
        end: token.end().to_u32(),
    });
    let mut tensors = walk.0.finish(text, tokens);
    tensors.root_is_file(text);
    Ok(tensors)
}

/// The kinds, in the order of the parser's own numbers.
const LAST: NodeKind = NodeKind::Identifier;

pub fn kind_name(kind: u32) -> Option<&'static str> {
    PYTHON_KINDS.get(kind as usize).copied()
}

const _: () = assert!(PYTHON_KINDS.len() == LAST as usize + 1);

const PYTHON_KINDS: &[&str] = &[
    "ModModule",
    "ModExpression",
    "StmtFunctionDef",
    "StmtClassDef",
    "StmtReturn",
    "StmtDelete",
    "StmtTypeAlias",
    "StmtAssign",
    "StmtAugAssign",
    "StmtAnnAssign",
    "StmtFor",
    "StmtWhile",
    "StmtIf",
    "StmtWith",
    "StmtMatch",
    "StmtRaise",
    "StmtTry",
    "StmtAssert",
    "StmtImport",
    "StmtImportFrom",
    "StmtGlobal",
    "StmtNonlocal",
    "StmtExpr",
    "StmtPass",
    "StmtBreak",
    "StmtContinue",
    "StmtIpyEscapeCommand",
    "ExprBoolOp",
    "ExprNamed",
    "ExprBinOp",
    "ExprUnaryOp",
    "ExprLambda",
    "ExprIf",
    "ExprDict",
    "ExprSet",
    "ExprListComp",
    "ExprSetComp",
    "ExprDictComp",
    "ExprGenerator",
    "ExprAwait",
    "ExprYield",
    "ExprYieldFrom",
    "ExprCompare",
    "ExprCall",
    "ExprFString",
    "ExprTString",
    "ExprStringLiteral",
    "ExprBytesLiteral",
    "ExprNumberLiteral",
    "ExprBooleanLiteral",
    "ExprNoneLiteral",
    "ExprEllipsisLiteral",
    "ExprAttribute",
    "ExprSubscript",
    "ExprStarred",
    "ExprName",
    "ExprList",
    "ExprTuple",
    "ExprSlice",
    "ExprIpyEscapeCommand",
    "ExceptHandlerExceptHandler",
    "InterpolatedElement",
    "InterpolatedStringLiteralElement",
    "PatternMatchValue",
    "PatternMatchSingleton",
    "PatternMatchSequence",
    "PatternMatchMapping",
    "PatternMatchClass",
    "PatternMatchStar",
    "PatternMatchAs",
    "PatternMatchOr",
    "TypeParamTypeVar",
    "TypeParamTypeVarTuple",
    "TypeParamParamSpec",
    "InterpolatedStringFormatSpec",
    "PatternArguments",
    "PatternKeyword",
    "Comprehension",
    "Arguments",
    "Parameters",
    "Parameter",
    "ParameterWithDefault",
    "Keyword",
    "Alias",
    "WithItem",
    "MatchCase",
    "Decorator",
    "ElifElseClause",
    "TypeParams",
    "FString",
    "TString",
    "StringLiteral",
    "BytesLiteral",
    "Identifier",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_the_parser_s() {
        let text = "class A(B):\n    x: int = f'{1}'\n";
        let tensors = parse(text).unwrap();
        let names: Vec<_> = tensors
            .kinds
            .iter()
            .filter_map(|kind| kind_name(*kind))
            .collect();
        assert_eq!(
            names[..4],
            ["ModModule", "StmtClassDef", "Identifier", "Arguments"]
        );
        for kind in [
            NodeKind::ModModule,
            NodeKind::ExprCall,
            NodeKind::Decorator,
            LAST,
        ] {
            assert_eq!(kind_name(kind as u32), Some(format!("{kind:?}").as_str()));
        }
    }
}
