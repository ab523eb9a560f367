//! Names that Python has without any import.

/// Those of all supported versions, and those of Python 2 that old branches still name.
const NAMES: &str = "ArithmeticError AssertionError AttributeError BaseException BaseExceptionGroup \
    BlockingIOError BrokenPipeError BufferError BytesWarning ChildProcessError \
    ConnectionAbortedError ConnectionError ConnectionRefusedError ConnectionResetError \
    DeprecationWarning EOFError Ellipsis EncodingWarning EnvironmentError Exception \
    ExceptionGroup False FileExistsError FileNotFoundError FloatingPointError FutureWarning \
    GeneratorExit IOError ImportError ImportWarning IndentationError IndexError \
    InterruptedError IsADirectoryError KeyError KeyboardInterrupt LookupError MemoryError \
    ModuleNotFoundError NameError None NotADirectoryError NotImplemented NotImplementedError \
    OSError OverflowError PendingDeprecationWarning PermissionError ProcessLookupError \
    PythonFinalizationError RecursionError ReferenceError ResourceWarning RuntimeError \
    RuntimeWarning StopAsyncIteration StopIteration SyntaxError SyntaxWarning SystemError \
    SystemExit TabError TimeoutError True TypeError UnboundLocalError UnicodeDecodeError \
    UnicodeEncodeError UnicodeError UnicodeTranslateError UnicodeWarning UserWarning \
    ValueError Warning WindowsError ZeroDivisionError __build_class__ __class__ __debug__ \
    __import__ abs aiter all anext any ascii basestring bin bool breakpoint buffer bytearray \
    bytes callable chr classmethod cmp compile complex copyright credits delattr dict dir \
    divmod enumerate eval exec execfile exit file filter float format frozenset getattr \
    globals hasattr hash help hex id input int isinstance issubclass iter len license list \
    locals long map max memoryview min next object oct open ord pow print property quit \
    range raw_input reduce reload repr reversed reveal_locals reveal_type round set setattr \
    slice sorted staticmethod str sum super tuple type unichr unicode vars xrange zip";

/// Whether a name is one.
pub fn is_builtin(name: &str) -> bool {
    NAMES.split_whitespace().any(|other| other == name)
}
