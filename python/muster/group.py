"""muster.Group: the exact sum of what each of several processes has."""

import ctypes as C

from . import _library, _run
from ._library import GroupOptions, SumInfo, call, lib

DOUBLE = 1


class Group:
    """Host a group, or join the one at `address`.  Options: least, members_max,
    give_up_s, bytes_max, listen, token_file, name."""

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
        """(the sum of everybody's values, who is in it)."""
        array, info = (C.c_double * len(values))(*values), SumInfo()

        def work():
            call(lib.muster_sum, self.handle.pointer, array, len(values), DOUBLE, deadline_s,
                 C.byref(info))
        _run.beside(work, lambda: lib.muster_cancel(self.handle.kept_pointer))
        return list(array), info

    def leave(self):
        self.handle.close()
