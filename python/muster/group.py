"""muster.Group: the exact sum of what each of several processes has."""

import ctypes as C

from . import _library, _run
from ._library import GroupOptions, SumInfo, call, lib

DOUBLE = 1
TYPES = {"float64": DOUBLE, "float32": 2, "int64": 9}  # By the name of a dtype.


class Group:
    """Begin a group, or join the one at `address`: any member's will do.
    Options: least, members_max, give_up_s, bytes_max, listen, token_file,
    name, plain."""

    def __init__(self, address=None, **options):
        known = [name for name, _ in GroupOptions._fields_[1:]]
        unknown = sorted(set(options) - set(known))
        if unknown:
            raise TypeError(f"no option named {', '.join(unknown)}; there are {', '.join(known)}")
        asked = GroupOptions(**{k: v.encode() if isinstance(v, str) else v
                                for k, v in options.items()})
        self.handle = _library.Handle(lib.muster_group_leave)
        if address:
            call(lib.muster_group_join, C.byref(asked), str(address).encode(),
                 C.byref(self.handle.pointer))
        else:
            call(lib.muster_group_host, C.byref(asked), C.byref(self.handle.pointer))
        self.address = lib.muster_group_address(self.handle.pointer).decode()

    def sum(self, values, deadline_s=0.0):
        """(the sum of everybody's values, who is in it).  Of a numpy array of
        float64, float32 or int64 an array like it, else a list of floats."""
        info, name = SumInfo(), str(getattr(values, "dtype", ""))
        if name and name not in TYPES:
            raise TypeError(f"values are {name}; there are sums of {', '.join(TYPES)}")
        array = values.copy("C") if name else (C.c_double * len(values))(*values)
        place = C.c_void_p(array.ctypes.data) if name else array

        def work():
            call(lib.muster_sum, self.handle.pointer, place,
                 array.size if name else len(values), TYPES[name or "float64"], deadline_s,
                 C.byref(info))
        _run.beside(work, lambda: lib.muster_cancel(self.handle.kept_pointer))
        return array if name else list(array), info

    def leave(self):
        self.handle.close()
