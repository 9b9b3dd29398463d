"""A Mercurial extension for oxy's tests: it makes a history of every kind of revision, and tells what Mercurial reads."""

import hashlib
import random

from mercurial import commands, context, registrar, store
from mercurial.node import hex

cmdtable = {}
command = registrar.command(cmdtable)
testedwith = b''


def randomline(r):
    return b' '.join(b'%x' % r.getrandbits(r.randrange(4, 24)) for _ in range(r.randrange(1, 9))) + b'\n'


@command(b'oxymake', [(b'', b'revisions', 40, b'how many'), (b'', b'seed', 1, b'of the history'), (b'', b'lines', 4, b'of a description')])
def oxymake(ui, repo, **opts):
    """commit a history with merges, branches, copies, renames, removals, links, executables and odd texts"""
    r = random.Random(opts['seed'])
    heads = []
    # What each head has: path -> (bytes, flags)
    trees = {}
    paths = [b'dir%d/sub/file %d.txt' % (i % 3, i) for i in range(9)] + [b'hot', b'Upper/CON.aux', b'_under_/x~y', b'\xe9t\xe9', b'.dot/.f']
    lines = {p: [randomline(r) for _ in range(r.randrange(0, 60))] for p in paths}
    lines[b'hot'] = [randomline(r) for _ in range(900)]
    with repo.wlock(), repo.lock(), repo.transaction(b'oxy'):
        for i in range(opts['revisions']):
            if heads and (len(heads) < 3 and r.random() < 0.2):
                p1 = r.choice(list(trees))
            else:
                p1 = heads[r.randrange(len(heads))] if heads else repo.nullid
            p2 = repo.nullid
            tree = dict(trees.get(p1, {}))
            changes, copies = {}, {}
            if len(heads) > 1 and r.random() < 0.3:
                p2 = r.choice([h for h in heads if h != p1])
                for p, v in trees[p2].items():
                    if tree.get(p) != v:
                        changes[p] = v
            for _ in range(r.randrange(1, 4)):
                p = r.choice(paths)
                kind = r.random()
                if kind < 0.08 and p in tree:
                    changes[p] = None
                elif kind < 0.2 and tree:
                    source = r.choice(sorted(tree))
                    dest = source + b'.%d' % i
                    if changes.get(source, tree[source]) is not None:
                        changes[dest] = tree[source]
                        copies[dest] = source
                        if r.random() < 0.5:
                            changes[source] = None
                elif kind < 0.25:
                    changes[p] = (b'some/target', b'l')
                elif kind < 0.3:
                    changes[p] = (b'', b'')
                elif kind < 0.35:
                    changes[p] = (b'\1\nlooks like metadata\n', b'')
                elif kind < 0.4:
                    changes[p] = (b'\0' + bytes(r.getrandbits(8) for _ in range(r.randrange(400))), b'')
                else:
                    text = lines[p]
                    for _ in range(r.randrange(1, 4)):
                        a = r.randrange(len(text) + 1)
                        text[a : a + r.randrange(0, 4)] = [randomline(r) for _ in range(r.randrange(0, 5))]
                    changes[p] = (b''.join(text), b'x' if r.random() < 0.1 else b'')
            changes = {p: v for p, v in changes.items() if v is not None or p in tree}
            if not changes:
                continue

            def filectx(repo, ctx, path):
                v = changes[path]
                if v is None:
                    return None
                return context.memfilectx(repo, ctx, path, v[0], b'l' in v[1], b'x' in v[1], copies.get(path))

            extra = {}
            if r.random() < 0.2:
                extra[b'branch'] = b'branch %d' % r.randrange(3)
            if r.random() < 0.2:
                extra[b'odd'] = b'a\\b\nc\0' + b'1:\r'
            if r.random() < 0.05 and p1 != repo.nullid:
                extra[b'close'] = b'1'
            date = b'%d %d' % (1100000000 + 1000 * i, r.choice([0, -7200, 18000, 3]))
            desc = b''.join(randomline(r) for _ in range(r.randrange(1, opts['lines'] + 1)))
            node = repo.commitctx(
                context.memctx(repo, [p1, p2], desc, sorted(changes), filectx, b'J\xc3\xb6rg <j@example.org>', date, extra)
            )
            for p, v in changes.items():
                if v is None:
                    tree.pop(p, None)
                else:
                    tree[p] = v
            trees[node] = tree
            heads = [h for h in heads if h not in (p1, p2)] + [node]


@command(b'oxydump', [])
def oxydump(ui, repo, **opts):
    """print each revision of each revlog: file, revision, node, parents, link, flags, length and SHA-1 of what is stored"""
    repo = repo.unfiltered()
    logs = [(b'00changelog', repo.changelog)]
    logs.append((b'00manifest', repo.manifestlog.getstorage(b'')._revlog))
    for entry in repo.store.datafiles():
        name = entry[1]
        if not name.endswith(b'.i'):
            continue
        if name.startswith(b'data/'):
            logs.append((name[:-2], repo.file(name[5:-2])._revlog))
        elif name.startswith(b'meta/'):
            logs.append((name[:-2], repo.manifestlog.getstorage(name[5 : -len(b'00manifest.i')])._revlog))
    for name, log in logs:
        for rev in log:
            raw = log.rawdata(rev)
            p1, p2 = log.parentrevs(rev)
            ui.write(
                b'%s\t%d\t%s\t%d\t%d\t%d\t%d\t%d\t%s\n'
                % (
                    repo.store.encode(name + b'.i'), rev, hex(log.node(rev)), p1, p2, log.linkrev(rev), log.flags(rev),
                    len(raw), hashlib.sha1(raw).hexdigest().encode(),
                )
            )


@command(b'oxynames', [])
def oxynames(ui, repo, **opts):
    """print the name in the store of each path read, both ended by zero bytes"""
    encode = store.encodefilename if b'store' in repo.requirements else store.encodedir
    encode = getattr(repo.store, 'encode', encode)
    for path in ui.fin.read().split(b'\0')[:-1]:
        ui.write(encode(path) + b'\0')


@command(b'oxyrefs', [])
def oxyrefs(ui, repo, **opts):
    """give a history of 50 changesets phases, bookmarks, tags that move and go, and an obsolete changeset"""
    ui.setconfig(b'ui', b'interactive', b'no')
    ui.setconfig(b'experimental', b'evolution', b'all')
    commands.phase(ui, repo, public=True, draft=False, secret=False, force=False, rev=[b'5'])
    commands.phase(ui, repo, public=False, draft=False, secret=True, force=True, rev=[b'45'])
    commands.bookmark(ui, repo, b'a bookmark', rev=b'7')
    commands.bookmark(ui, repo, b'b', rev=b'9')
    commands.update(ui, repo, rev=b'30')
    for names, kw in [
        ([b'one'], {'rev': b'3'}),
        ([b'two', b'three'], {'rev': b'4'}),
        ([b'one'], {'rev': b'6'}),
        ([b'two'], {'remove': True}),
        ([b'mine'], {'rev': b'8', 'local': True}),
    ]:
        commands.tag(ui, repo, *names, force=True, **kw)
    commands.update(ui, repo, rev=b'20')
    commands.tag(ui, repo, b'three', force=True, rev=b'2')
    commands.tag(ui, repo, b'four', force=True, rev=b'1')
    with repo.lock(), repo.transaction(b'oxy') as tr:
        old = repo[min(repo.revs(b'head() and draft()'))]
        repo.obsstore.create(tr, old.node(), (repo[b'tip'].node(),), 0)


@command(b'oxyhistory', [])
def oxyhistory(ui, repo, **opts):
    """print each changeset, with the hash of its flat manifest and what each file revision holds, then bookmarks and tags"""
    unfi = repo.unfiltered()

    def digest(b):
        return hashlib.sha1(b).hexdigest().encode()

    for rev in unfi:
        c = unfi[rev]
        flat = b''.join(b'%s\0%s%s\n' % (p, hex(n), c.manifest().flags(p)) for p, n in sorted(c.manifest().iteritems()))
        fields = [
            b'%d' % rev, c.hex(), b'%d %d' % (c.p1().rev(), c.p2().rev()), hex(c.manifestnode()), c.branch(),
            b'%d %d' % (c.closesbranch(), c.obsolete()), b'%d' % c.phase(), b'%d %d' % (int(c.date()[0]), c.date()[1]),
            c.user(), digest(c.description()), b'|'.join(c.files()), digest(flat),
        ]
        ui.write(b'\t'.join(fields) + b'\n')
    for name, node in sorted(unfi._bookmarks.items()):
        ui.write(b'bookmark\t%s\t%s\n' % (name, hex(node)))
    for name, node in sorted(unfi.tags().items()):
        if name != b'tip':
            ui.write(b'tag\t%s\t%s\n' % (name, hex(node)))


@command(b'oxyfiles', [])
def oxyfiles(ui, repo, **opts):
    """print what each file revision of the tip and its ancestors' manifests holds, and where it was copied from"""
    unfi = repo.unfiltered()
    seen = set()
    for rev in unfi:
        c = unfi[rev]
        for p, n in sorted(c.manifest().iteritems()):
            if (p, n) in seen:
                continue
            seen.add((p, n))
            log = unfi.file(p)
            copied = log.renamed(n)
            source = b'%s %s' % (copied[0], hex(copied[1])) if copied else b''
            ui.write(b'%s\t%s\t%s\t%s\n' % (p, hex(n), hashlib.sha1(log.read(n)).hexdigest().encode(), source))
