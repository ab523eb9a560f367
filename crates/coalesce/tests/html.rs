//! `--html` of a tree whose names and texts would be obeyed by a browser that is not careful.

use std::{fs, process::Command};

use serde_json::Value;

const EVIL: &str = "<img src=x onerror=alert(1)>";

#[test]
fn pages_of_a_hostile_tree_hold_data_and_no_markup() {
    let root = tempfile::tempdir().unwrap();
    let files = [
        ("pkg/__init__.py".to_owned(), String::new()),
        (format!("pkg/{EVIL}.py"), "x = 1\n".to_owned()),
        (
            "pkg/use.py".to_owned(),
            "from pkg.gone import y  # </script><script>alert(2)</script>\n".to_owned(),
        ),
        (
            "pkg/gpu.py".to_owned(),
            format!("s = \"</script>{EVIL}\"\n"),
        ),
        (
            "pyproject.toml".to_owned(),
            "[project]\nname = \"pkg\"\nversion = \"1\"\n".to_owned(),
        ),
        (
            "migrations/0001-a.toml".to_owned(),
            "schema = 1\n\n[[move]]\nfrom = \"pkg.gpu\"\nto = \"pkg.memory\"\n".to_owned(),
        ),
    ];
    for (path, text) in files {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let pages = tempfile::tempdir().unwrap();
    for command in ["audit", "check", "plan"] {
        let page = pages.path().join(command);
        let output = Command::new(env!("CARGO_BIN_EXE_coalesce"))
            .args([command, "--root"])
            .arg(root.path())
            .arg("--html")
            .arg(&page)
            .output()
            .unwrap();
        assert!(page.exists(), "{command}: {output:?}");
        let page = fs::read_to_string(page).unwrap();
        assert_eq!(page.matches("<script").count(), 2, "{command}");
        assert_eq!(page.matches("</script").count(), 2, "{command}");
        assert!(!page.contains("<img"), "{command}");
        let data = page.split_once("id=\"data\">").unwrap().1;
        let data = data.split_once("</script>").unwrap().0;
        let data: Value = serde_json::from_str(data).unwrap();
        assert_eq!(data.pointer("/command").unwrap(), command);
        if command == "audit" {
            assert!(data.to_string().contains(EVIL), "it is told, as text");
        }
    }
}
