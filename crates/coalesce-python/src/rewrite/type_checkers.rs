//! Whether the tree says that somebody reads its types.

use coalesce_model::Texts;

/// Settings by which a checker of types asks whether a module offers what others import of it.
const ASKING_FOR_OFFERS: [&str; 5] = [
    "implicit_reexport",
    "strict = true",
    "strict = True",
    "strict=true",
    "\"strict\"",
];

/// Whether a package says that its types are to be read, or settings of a checker ask for what modules offer.
pub(super) fn ask_for_offers(texts: &dyn Texts) -> bool {
    let mut paths = texts.paths().iter();
    paths.any(|path| path.file_name() == "py.typed") || settings_ask_for_offers(texts)
}

/// Whether settings of a checker ask for what modules offer.
pub(super) fn settings_ask_for_offers(texts: &dyn Texts) -> bool {
    let mut paths = texts.paths().iter();
    paths.any(|path| match path.file_name() {
        "pyproject.toml" | "mypy.ini" | ".mypy.ini" | "setup.cfg" | "pyrightconfig.json" => {
            let text = texts.text(path).unwrap_or_default();
            ASKING_FOR_OFFERS.iter().any(|word| text.contains(word))
        }
        _ => false,
    })
}
