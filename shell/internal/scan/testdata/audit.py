"""Runs programs and tells what each does: one JSON object a line in, one a line out."""
import contextlib, io, json, os, signal, sys
import ast, base64, bisect, bz2, collections, copy, csv, datetime, decimal, difflib, fnmatch, fractions, functools, glob
import gzip, hashlib, heapq, html, itertools, lzma, math, operator, pathlib, platform, pprint, random, re, shlex, statistics
import string, struct, textwrap, time, tomllib, unicodedata, urllib.parse, uuid, zlib, _strptime, encodings.idna

READS = {"os.listdir", "os.scandir", "glob.glob"}
HARMLESS = {"builtins.id", "object.__getattr__", "marshal.loads", "sys._getframe", "sys.excepthook", "sys.unraisablehook",
            "glob.glob/2", "time.sleep", "pathlib.Path.glob", "pathlib.Path.rglob", "os.walk", "os.fwalk", "gc.get_objects"}
harm, reads, watching = [], [], False


def hook(event, args):
    global watching
    if not watching:
        return
    if event == "open":
        path, mode, flags = args
        if isinstance(path, str) and path.startswith(os.path.dirname(os.__file__)):
            return
        if (mode and set(mode) & set("wax+")) or flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            harm.append("writes " + str(path))
        reads.append(str(path))
    elif event in READS:
        reads.append(str(args[0]))
    elif event == "import" or event in HARMLESS:
        if event == "import" and args[0] in ("os.system", "subprocess", "socket", "ctypes"):
            harm.append("imports " + args[0])
    elif event in ("compile", "exec"):
        pass
    else:
        harm.append(event)
        raise PermissionError(event)


def late(*_):
    raise TimeoutError


sys.addaudithook(hook)
signal.signal(signal.SIGALRM, late)
answers = sys.stdout
for line in sys.stdin:
    program = json.loads(line)
    harm.clear()
    reads.clear()
    sys.argv = ["-c", *program["args"]]
    sys.stdin = io.TextIOWrapper(io.BytesIO(b"notes.txt\nx.txt\n"))
    valid = True
    try:
        code = compile(program["code"], "<program>", "exec")
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        valid = False
    if valid:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            signal.setitimer(signal.ITIMER_REAL, 0.3)
            watching = True
            try:
                exec(code, {"__name__": "__main__"})
            except BaseException:
                pass
            finally:
                watching = False
                signal.setitimer(signal.ITIMER_REAL, 0)
    print(json.dumps({"valid": valid, "harm": harm, "reads": reads}), file=answers, flush=True)
