"""What muster.dask gives to the workers of a Dask cluster.  A client that is killed
leaves it with the scheduler, which hands it to every worker that comes: it must do
no harm where Muster is not installed, or cannot be started.  So nothing of it is
imported by name there (it travels as code), and whatever goes wrong is logged."""

import asyncio
import logging
import sys

import cloudpickle
from distributed.diagnostics.plugin import WorkerPlugin

cloudpickle.register_pickle_by_value(sys.modules[__name__])


class ByValue:
    """Something of this module that is itself again where it is unpickled."""

    def __init__(self, what):
        self.what = what

    def __call__(self, *args, **keys):
        return self.what(*args, **keys)

    def __reduce__(self):
        return cloudpickle.loads, (cloudpickle.dumps(self.what),)


class Joins(WorkerPlugin):
    """A Join for each Dask worker; `trouble`: why there is none."""

    def __init__(self, address, token):
        self.address, self.token, self.join, self.trouble = address, token, None, ""

    def __reduce__(self):
        return ByValue(type(self)), (self.address, self.token)

    def setup(self, worker):
        try:
            from muster import dask
            self.join = dask.Join(self.address, dask.Key(self.token), worker.state.nthreads,
                                  worker.local_directory)
            self.join.thread.start()
        except Exception as error:
            self.trouble = str(error) or type(error).__name__
            logging.getLogger("distributed.worker").warning(
                "muster cannot be run by this worker, which goes on without it: %s", self.trouble)

    async def teardown(self, worker):
        if self.join is not None:
            await asyncio.to_thread(self.join.stop)


def said_by(plugin, dask_worker=None):
    """Why the worker has no `muster join`, or the last words of one that failed."""
    found = dask_worker.plugins.get(plugin)
    return found and (found.trouble or found.join and found.join.said)
