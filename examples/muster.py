"""libmuster for Python, by ctypes alone: train, join, Group.

Names and meanings are those of muster.h; docs/api.md has the rules.
"""
import ctypes as C
import traceback

VERSION = 2
lib = C.CDLL("libmuster.so.2")
GRADIENT = C.CFUNCTYPE(C.c_int, C.c_void_p, C.POINTER(C.c_double), C.c_uint32,
                       C.POINTER(C.c_double), C.POINTER(C.c_double))
KINDS = dict(u=C.c_uint32, q=C.c_uint64, i=C.c_int32, p=C.c_void_p,
             s=C.c_char_p, d=C.c_double, g=GRADIENT)
lib.muster_hash.restype = lib.muster_group_address.restype = C.c_char_p
lib.muster_hash.argtypes = lib.muster_free.argtypes = [C.c_void_p]
lib.muster_weights.restype = C.POINTER(C.c_double)


def struct(name, fields):
    pairs = map(str.split, fields.split(","))
    return type(name, (C.Structure,),
                {"_fields_": [(field, KINDS[kind]) for kind, field in pairs]})


Options = struct("Options", "u version,u dims,u chunks,u steps,q rows,g gradient,"
                 "p hessvec,p watch,p context,s optimiser,d rate,d l2,d tol,"
                 "u threads,u workers,s code,u stragglers,u wanted,s listen,"
                 "s token_file,s folder,s name")
GroupOptions = struct("GroupOptions", "u version,u least,u members_max,u give_up_s,"
                      "q bytes_max,s listen,s token_file,s name")
Info = struct("Info", "u version,i included,q call,u contributed,u members,s who")


class Error(RuntimeError):
    pass


def call(function, *arguments):
    """Every function that can fail ends with a buffer for its sentence."""
    why = C.create_string_buffer(512)
    status = function(*arguments, why)
    if status:
        raise Error(f"{status}: {why.value.decode()}")


def options(kind, **more):
    return kind(VERSION, **{k: v.encode() if isinstance(v, str) else v
                            for k, v in more.items()})


def guarded(gradient):
    """ctypes takes an exception for success; here it stops the training."""
    def one(*arguments):
        try:
            return gradient(*arguments) or 0
        except BaseException:
            traceback.print_exc()
            return 1
    return GRADIENT(one)


def train(gradient, **more):
    """(weights, hash).  A function that raises, or returns not 0: Error."""
    asked, model = options(Options, gradient=guarded(gradient), **more), C.c_void_p()
    try:
        call(lib.muster_train, C.byref(asked), C.byref(model))
        weights = lib.muster_weights(model)[:asked.dims]
        return weights, lib.muster_hash(model).decode()
    finally:  # A training that was stopped has a model, too.
        lib.muster_free(model)


def join(gradient, address, **more):
    asked = options(Options, gradient=guarded(gradient), **more)
    call(lib.muster_join, C.byref(asked), address.encode())


class Group:
    def __init__(self, address=None, **more):
        self.handle, asked = C.c_void_p(), options(GroupOptions, **more)
        if address:
            call(lib.muster_group_join, C.byref(asked), address.encode(),
                 C.byref(self.handle))
        else:
            call(lib.muster_group_host, C.byref(asked), C.byref(self.handle))
        self.address = lib.muster_group_address(self.handle).decode()

    def sum(self, values, deadline_s=0.0):
        """The sum of everybody's values, and who is in it."""
        array, info = (C.c_double * len(values))(*values), Info(VERSION)
        call(lib.muster_sum, self.handle, array, C.c_uint64(len(values)), 1,
             C.c_double(deadline_s), C.byref(info))
        return list(array), info

    def leave(self):
        lib.muster_group_leave(self.handle)
