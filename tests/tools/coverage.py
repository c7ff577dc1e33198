#!/usr/bin/env python3
"""Adds up what gcov counted: coverage.py FOLDER [--uncovered].

FOLDER holds .gcno and .gcda files. A line of core/ counts once, as covered when
any object has run it. Exits with 1 when less than GOAL of all lines are.
"""

import collections
import json
import pathlib
import subprocess
import sys

GOAL = 90.0
SOURCES = 'core/'


def gcov(path):
  """The records of one .gcda beside its .gcno, or of a .gcno: nothing ran."""
  done = subprocess.run(['gcov', '--json-format', '--stdout', str(path)],
                        capture_output=True, text=True, check=True)
  for line in done.stdout.splitlines():
    yield from json.loads(line)['files']


def counted(folder):
  """What to ask gcov for: each object's notes, and its counts in every test.

  Bazel compiles in /proc/self/cwd, so a test writes its counts below its own
  runfiles, under the object's path; gcov wants the notes beside them.
  """
  for notes in sorted(folder.rglob('*.gcno')):
    if '.runfiles' not in str(notes):
      yield notes
  for counts in sorted(folder.rglob('*.gcda')):
    inside = str(counts).rpartition(f'/{folder.parent.name}/{folder.name}/')[2]
    beside = counts.with_suffix('.gcno')
    if not beside.exists():
      beside.symlink_to(folder / pathlib.Path(inside).with_suffix('.gcno'))
    yield counts


def ran(line):
  """Whether a record of a line says so.

  gcov counts no run of a line that holds nothing but the unwinding of an
  exception, nor of some lines in the middle of a statement; only in a line
  that did not run it sees a block that did not.
  """
  return line['count'] > 0 or not line['unexecuted_block']


def merge(folder):
  """{file: {line: whether it ran}} over all objects."""
  lines = collections.defaultdict(lambda: collections.defaultdict(bool))
  for path in counted(pathlib.Path(folder)):
    for record in gcov(path):
      name = record['file']
      if not name.startswith(SOURCES):
        continue
      for line in record['lines']:
        lines[name][line['line_number']] |= ran(line)
  return lines


def ranges(numbers):
  """[3, 4, 5, 9] is "3-5 9"."""
  runs = []
  for number in sorted(numbers):
    if runs and number == runs[-1][1] + 1:
      runs[-1][1] = number
    else:
      runs.append([number, number])
  return ' '.join(str(a) if a == b else f'{a}-{b}' for a, b in runs)


def report(lines, uncovered):
  """Prints the table; the percentage of all lines."""
  folders = collections.defaultdict(lambda: [0, 0])
  for name, state in sorted(lines.items()):
    missing = [line for line, covered in state.items() if not covered]
    for key in (str(pathlib.Path(name).parent), 'total'):
      folders[key][0] += len(state) - len(missing)
      folders[key][1] += len(state)
    if uncovered and missing:
      print(f'{name}: {ranges(missing)}')
  total = folders.pop('total')
  for name, (covered, of) in [*sorted(folders.items()), ('total', total)]:
    percent = 100 * covered / of
    print(f'{name:<16} {covered:>6} of {of:>6} lines  {percent:5.1f} %')
  return 100 * total[0] / total[1]


def main():
  lines = merge(sys.argv[1])
  if not lines:
    sys.exit(f'coverage.py: no counts of {SOURCES} below {sys.argv[1]}')
  percent = report(lines, '--uncovered' in sys.argv[2:])
  if percent < GOAL:
    sys.exit(f'coverage.py: {percent:.1f} % is below {GOAL:.0f} %')


if __name__ == '__main__':
  main()
