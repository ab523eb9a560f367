//! What is there without being installed, and what distributions are called.

use std::{collections::BTreeSet, sync::LazyLock};

/// Top-level modules of the standard library, of all versions from 3.8 on
/// (`sys.stdlib_module_names`, and those that were removed since).
const STANDARD: &str = " __future__ _thread abc aifc annotationlib antigravity argparse array ast \
asynchat asyncio asyncore atexit audioop base64 bdb binascii binhex bisect builtins bz2 cProfile \
calendar cgi cgitb chunk cmath cmd code codecs codeop collections colorsys compileall compression \
concurrent configparser contextlib contextvars copy copyreg crypt csv ctypes curses dataclasses \
datetime dbm decimal difflib dis distutils doctest dummy_threading email encodings ensurepip enum \
errno faulthandler fcntl filecmp fileinput fnmatch formatter fractions ftplib functools gc \
genericpath getopt getpass gettext glob graphlib grp gzip hashlib heapq hmac html http idlelib \
imaplib imghdr imp importlib inspect io ipaddress itertools json keyword lib2to3 linecache locale \
logging lzma macpath mailbox mailcap marshal math mimetypes mmap modulefinder msilib msvcrt \
multiprocessing netrc nis nntplib nt ntpath nturl2path numbers opcode operator optparse os \
ossaudiodev parser pathlib pdb pickle pickletools pipes pkgutil platform plistlib poplib posix \
posixpath pprint profile pstats pty pwd py_compile pyclbr pydoc pydoc_data pyexpat queue quopri \
random re readline reprlib resource rlcompleter runpy sched secrets select selectors shelve shlex \
shutil signal site smtpd smtplib sndhdr socket socketserver spwd sqlite3 sre_compile sre_constants \
sre_parse ssl stat statistics string stringprep struct subprocess sunau symbol symtable sys \
sysconfig syslog tabnanny tarfile telnetlib tempfile termios test textwrap this threading time \
timeit tkinter token tokenize tomllib trace traceback tracemalloc tty turtle turtledemo types \
typing unicodedata unittest urllib uu uuid venv warnings wave weakref webbrowser winreg winsound \
wsgiref xdrlib xml xmlrpc zipapp zipfile zipimport zlib zoneinfo ";

/// Whether a top-level module is part of the language, private ones of its implementation included.
pub fn is_standard(top: &str) -> bool {
    static KNOWN: LazyLock<BTreeSet<&str>> =
        LazyLock::new(|| STANDARD.split_whitespace().collect());
    KNOWN.contains(top)
        || matches!(
            top,
            "_typeshed"
                | "_collections_abc"
                | "_weakrefset"
                | "_ctypes"
                | "_io"
                | "_csv"
                | "_socket"
                | "_json"
                | "_winapi"
                | "_frozen_importlib"
                | "_frozen_importlib_external"
        )
}

/// Modules of the standard library that some systems have and others lack (its documentation says of each where it is).
const OF_SOME_SYSTEMS: [&str; 21] = [
    "_winapi",
    "crypt",
    "curses",
    "fcntl",
    "grp",
    "msilib",
    "msvcrt",
    "nis",
    "nt",
    "ossaudiodev",
    "posix",
    "pty",
    "pwd",
    "readline",
    "resource",
    "spwd",
    "syslog",
    "termios",
    "tty",
    "winreg",
    "winsound",
];
/// What `ctypes` has on Windows alone.
const OF_WINDOWS: [&str; 9] = [
    "DllCanUnloadNow",
    "DllGetClassObject",
    "FormatError",
    "GetLastError",
    "OleDLL",
    "WinDLL",
    "WinError",
    "oledll",
    "windll",
];

/// What an import takes from the standard library that is not there on every system, by its full name. `from` is the
/// module behind `from`; `import a.b` has none.
pub fn of_some_systems(from: Option<&str>, name: &str) -> Option<String> {
    let module = from.unwrap_or(name);
    let top = module.split('.').next().unwrap_or_default();
    if OF_SOME_SYSTEMS.contains(&top) {
        return Some(top.to_owned());
    }
    let of_windows = module == "ctypes" && OF_WINDOWS.contains(&name);
    of_windows.then(|| format!("ctypes.{name}"))
}

/// What a library is distributed as, where its name is another one; else the name itself.
pub fn distribution(library: &str) -> &str {
    match library {
        "sklearn" => "scikit_learn",
        "skimage" => "scikit_image",
        "yaml" => "pyyaml",
        "PIL" => "pillow",
        "cv2" => "opencv_python",
        "bs4" => "beautifulsoup4",
        "dateutil" => "python_dateutil",
        "google" => "protobuf",
        "attr" => "attrs",
        "Crypto" => "pycryptodome",
        "git" => "gitpython",
        "jwt" => "pyjwt",
        "serial" => "pyserial",
        "zmq" => "pyzmq",
        "pkg_resources" => "setuptools",
        "dotenv" => "python_dotenv",
        "mpl_toolkits" => "matplotlib",
        "CifFile" => "pycifrw",
        "rsciio" => "rosettasciio",
        "OpenGL" => "pyopengl",
        "OpenSSL" => "pyopenssl",
        "nacl" => "pynacl",
        "usb" => "pyusb",
        "fitz" => "pymupdf",
        "docx" => "python_docx",
        "umap" => "umap_learn",
        "osgeo" => "gdal",
        other => other,
    }
}
