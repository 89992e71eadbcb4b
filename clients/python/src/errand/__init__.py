# errand/__init__.py: what the package offers.
#
# SPDX-License-Identifier: MIT
"""Client and worker for Errand, a durable task queue and scheduler.

    from errand import Client, Worker

    task = Client().push("resize", {"image": "cat.png"})

    worker = Worker()

    @worker.task("resize")
    def resize(job):
        job.progress(50, "half way")
        return {"file": "cat-640.png"}

    worker.run()
"""
from .client import Client, Team, order
from .errors import (ApiError, Cancelled, Conflict, ErrandError, LeaseLost, NotFound, Permanent, Refused, Release,
                     Unavailable, WaitTimeout)
from .worker import Job, Worker

__version__ = "0.2.0"
__all__ = ["ApiError", "Cancelled", "Client", "Conflict", "ErrandError", "Job", "LeaseLost", "NotFound", "Permanent",
           "Refused", "Release", "Team", "Unavailable", "WaitTimeout", "Worker", "order", "__version__"]
