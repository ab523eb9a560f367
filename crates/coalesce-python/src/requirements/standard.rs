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
