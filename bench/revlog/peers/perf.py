"""The tasks of bench/revlog on Mercurial's own Python API. It reads a line of JSON for each thing to do and answers with one."""

import gc
import json
import os
import sys
import time

from mercurial import policy, revlog, vfs
from mercurial.revlogutils import constants, nodemap

ITERATIONS = 50
spec = None
opener = None


def opened():
    kind = {
        'changelog': constants.KIND_CHANGELOG,
        'manifest': constants.KIND_MANIFESTLOG,
        'file': constants.KIND_FILELOG,
    }[spec['kind']]
    return revlog.revlog(
        opener,
        target=(kind, b''),
        radix=spec['radix'].encode(),
        censorable=False,
        mmaplargeindex=spec['map'],
        persistentnodemap=False,
    )


def openclose():
    opened()


def readindex():
    index = opened().index
    for i in range(len(index)):
        index[i]


def readtip():
    log = opened()
    log.revision(len(log) - 1)


def readdata():
    log = opened()
    for rev in spec['revs']:
        log.revision(rev)


def lookup():
    log = opened()
    log.rev(spec['nodes'][-1])


def lookups():
    for node in spec['nodes']:
        spec['log'].rev(node)


def everything():
    log = opened()
    for rev in log:
        log.revision(rev)


for line in sys.stdin:
    ask = json.loads(line)
    try:
        if 'radix' in ask:
            spec = ask
            opener = vfs.vfs(os.fsencode(ask['dir']))
            opener.options = {
                b'revlogv1': True,
                b'generaldelta': True,
                b'sparse-revlog': True,
                b'with-sparse-read': True,
                b'mmapindexthreshold': 1,
            }
            if ask.get('nodemap'):
                log = revlog.revlog(
                    opener, target=(constants.KIND_OTHER, b'x'), radix=ask['radix'].encode(), persistentnodemap=True
                )
                nodemap.update_persistent_nodemap(log)
            spec['log'] = opened()
            spec['nodes'] = [spec['log'].node(rev) for rev in ask['revs']]
            answer = {'policy': policy.policy.decode()}
        else:
            task = globals()[ask['task']]
            gc.collect()
            start, begin, n = time.process_time(), time.perf_counter(), 0
            while n < ITERATIONS and (n == 0 or time.perf_counter() - begin < ask['budget']):
                task()
                n += 1
            answer = {'seconds': (time.process_time() - start) / n}
    except Exception as e:
        answer = {'error': repr(e)}
    print(json.dumps(answer), flush=True)
