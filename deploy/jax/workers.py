"""Processes that answer a line with a line, and are started again when they end.

Such a process prints one line of JSON when it is ready, its greeting; then it reads
the name of an item a line and prints [outcome, why, seconds] of it as JSON. An item
that ends its process, or on which it hangs, has failed, and no other has.
"""

import json
import queue
import re
import select
import subprocess
import tempfile
import threading

# Importing JAX and collecting a file of thousands of tests takes a minute.
START = 300
# Lines of a log that say why a process ended.
DEADLY = re.compile(
    r"^F\d{4} |Check failed|terminate called|Fatal Python error|\w+Error: ")


class DoesNotStart(Exception):
    """A process ended, or said nothing, before it was ready."""


class Worker:
    """A process that does items, one after another."""

    def __init__(self, command, environment, patience):
        self.command = command
        self.environment = environment
        self.patience = patience
        self.process = None
        self.log = None

    def start(self):
        """Starts the process; returns its greeting."""
        self.log = tempfile.TemporaryFile("w+", errors="replace")
        self.process = subprocess.Popen(
            self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=self.log, text=True, bufsize=1, env=self.environment)
        line = self._line(START)
        if not line:
            why = "says nothing" if line is None else self._last_words()
            self.end()
            raise DoesNotStart(why)
        return json.loads(line)

    def _line(self, seconds):
        """A line, "" if the process ended, None if it says nothing."""
        ready, _, _ = select.select([self.process.stdout], [], [], seconds)
        return self.process.stdout.readline() if ready else None

    def _last_words(self):
        """The line of its log that says most of why it ended."""
        self.log.seek(0)
        lines = [line.strip() for line in self.log if line.strip()]
        deadly = [line for line in lines if DEADLY.search(line)]
        return ((deadly or lines or ["no words"])[-1])[:400]

    def ask(self, item):
        """(outcome, why, seconds) of the item."""
        if self.process is None:
            self.start()
        try:
            self.process.stdin.write(f"{item}\n")
            line = self._line(self.patience)
        except BrokenPipeError:
            line = ""
        if line:
            return tuple(json.loads(line))
        if line is None:
            self.end()
            return ("failed", f"hangs: nothing in {self.patience:g} s",
                    self.patience)
        code = self.process.wait()
        why = f"ended its process ({code}): {self._last_words()}"
        self.end()
        return "failed", why, 0

    def end(self):
        if self.process is None:
            return
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self.log.close()
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        self.process = None


def ask_all(items, make_worker, jobs):
    """The answers to all items, in their order, of `jobs` workers at once."""
    waiting, answers = queue.SimpleQueue(), {}
    for pair in enumerate(items):
        waiting.put(pair)

    def work():
        worker = make_worker()
        try:
            while True:
                number, item = waiting.get_nowait()
                try:
                    answers[number] = worker.ask(item)
                except DoesNotStart as error:
                    answers[number] = ("failed", f"does not start: {error}", 0)
        except queue.Empty:
            pass
        finally:
            worker.end()

    threads = [threading.Thread(target=work) for _ in range(jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [answers[number] for number in range(len(items))]
