"""Keep small matrix products on one thread: sharing them out costs more than it saves."""

from threading import Lock
from types import TracebackType

from threadpoolctl import ThreadpoolController


class _OneBlasThread:
    """A context in which BLAS uses one thread.

    Threads of the caller may overlap in it: the last to leave restores what the first one found.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._inside = 0

    def __enter__(self) -> None:
        with self._lock:
            self._inside += 1
            if self._inside == 1:
                self._limit = ThreadpoolController().limit(limits=1, user_api="blas")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._limit.restore_original_limits()


one_blas_thread = _OneBlasThread()
