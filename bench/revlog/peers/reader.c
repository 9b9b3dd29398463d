/* A reader of revlogs in C, to race against: it maps the files, keeps its buffers, applies deltas one by one and checks every text
   against its hash. It reads version 1 as Mercurial of today writes it, and trusts what it reads.

   cc -O2 reader.c -lz -lzstd -lcrypto
   reader RADIX TASK SECONDS [REVISION...]   does the task up to 50 times, for so many seconds, and prints the mean processor time in ns

   Tasks: openclose, readindex, readtip, readdata and lookup (of the last revision given), and inflate: every chunk, one after another,
   into one buffer, and nothing else, which is the limit of a sequential read. */
#define OPENSSL_SUPPRESS_DEPRECATED
#include <fcntl.h>
#include <openssl/sha.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

struct buffer {
	uint8_t *b;
	size_t cap;
};

struct log {
	const uint8_t *index, *data;
	size_t index_size, data_size;
	uint32_t *at; /* of an inline one: where each entry begins */
	int n, inlined, general;
};

static const char *radix;
static int *revs, revs_n;
static struct buffer texts[2], room;
static z_stream z;
static ZSTD_DCtx *zstd;
static volatile uint64_t sink;

static uint32_t be32(const uint8_t *p) {
	uint32_t v;
	memcpy(&v, p, 4);
	return __builtin_bswap32(v);
}

static uint64_t be64(const uint8_t *p) {
	uint64_t v;
	memcpy(&v, p, 8);
	return __builtin_bswap64(v);
}

static void fail(const char *what) {
	fprintf(stderr, "%s: %s\n", radix, what);
	exit(1);
}

static void need(struct buffer *b, size_t n) {
	if (b->cap >= n) return;
	b->cap = 2 * n + 256;
	b->b = realloc(b->b, b->cap);
	if (!b->b) fail("no memory");
}

static const uint8_t *map(const char *end, size_t *size) {
	char path[4096];
	struct stat st;
	snprintf(path, sizeof path, "%s%s", radix, end);
	int fd = open(path, O_RDONLY);
	if (fd < 0) return NULL;
	fstat(fd, &st);
	*size = st.st_size;
	void *p = mmap(0, *size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	return p == MAP_FAILED ? NULL : p;
}

static void start(struct log *l) {
	memset(l, 0, sizeof *l);
	l->index = map(".i", &l->index_size);
	if (!l->index) fail("no index");
	uint32_t header = be32(l->index);
	l->inlined = header >> 16 & 1;
	l->general = header >> 17 & 1;
	l->n = l->index_size / 64;
	if (!l->inlined) return;
	size_t cap = 0, at = 0;
	for (l->n = 0; at + 64 <= l->index_size; at += 64 + be32(l->index + at + 8)) {
		if (l->n == (int)cap) l->at = realloc(l->at, (cap = 2 * cap + 64) * sizeof *l->at);
		l->at[l->n++] = at;
	}
}

static void end(struct log *l) {
	munmap((void *)l->index, l->index_size);
	if (l->data) munmap((void *)l->data, l->data_size);
	free(l->at);
}

static const uint8_t *entry(struct log *l, int rev) {
	return l->index + (l->inlined ? l->at[rev] : (size_t)rev * 64);
}

static const uint8_t *chunk(struct log *l, int rev, size_t *size) {
	const uint8_t *e = entry(l, rev);
	*size = be32(e + 8);
	if (l->inlined) return e + 64;
	if (!l->data) l->data = map(".d", &l->data_size);
	if (!l->data && *size) fail("no data");
	return l->data + (rev ? be64(e) >> 16 : 0);
}

/* decode gives what a chunk holds. */
static const uint8_t *decode(const uint8_t *c, size_t size, size_t hint, size_t *got) {
	*got = 0;
	if (!size) return c;
	switch (*c) {
	case 0:
		*got = size;
		return c;
	case 'u':
		*got = size - 1;
		return c + 1;
	case 'x':
		inflateReset(&z);
		need(&room, hint + 64);
		z.next_in = (void *)c, z.avail_in = size, z.next_out = room.b, z.avail_out = room.cap;
		for (;;) {
			int r = inflate(&z, Z_FINISH);
			if (r == Z_STREAM_END) break;
			if (r != Z_OK && r != Z_BUF_ERROR) fail("zlib");
			need(&room, 2 * room.cap);
			z.next_out = room.b + z.total_out, z.avail_out = room.cap - z.total_out;
		}
		*got = z.total_out;
		return room.b;
	case '(':;
		unsigned long long holds = ZSTD_getFrameContentSize(c, size);
		if (holds > 1ull << 40) holds = 2 * hint + 65536;
		need(&room, holds + 1);
		*got = ZSTD_decompressDCtx(zstd, room.b, room.cap, c, size);
		if (ZSTD_isError(*got)) fail("zstd");
		return room.b;
	}
	fail("a chunk of no known kind");
	return NULL;
}

static size_t apply(const uint8_t *old, size_t size, const uint8_t *d, size_t d_size, struct buffer *to) {
	const uint8_t *stop = d + d_size;
	size_t out = size, at = 0, last = 0;
	for (const uint8_t *p = d; p < stop; p += 12 + be32(p + 8)) out += be32(p + 8) - (size_t)(be32(p + 4) - be32(p));
	need(to, out + 1);
	while (d < stop) {
		uint32_t from = be32(d), till = be32(d + 4), n = be32(d + 8);
		memcpy(to->b + at, old + last, from - last);
		at += from - last;
		memcpy(to->b + at, d + 12, n);
		at += n, d += 12 + n, last = till;
	}
	memcpy(to->b + at, old + last, size - last);
	return at + size - last;
}

static int kept = -1, kept_in;
static size_t kept_size;

static size_t text(struct log *l, int rev) {
	static int chain[100000];
	static const uint8_t null[20];
	int n = 0, base = rev;
	for (;;) {
		if (base == kept && n) break;
		chain[n++] = base;
		int b = be32(entry(l, base) + 16);
		if (b == base || b < 0) {
			base = -1;
			break;
		}
		base = l->general ? b : base - 1;
	}
	int in = kept_in;
	size_t size = kept_size, got;
	if (base < 0) {
		size_t stored;
		const uint8_t *c = chunk(l, chain[--n], &stored);
		c = decode(c, stored, be32(entry(l, chain[n]) + 12), &size);
		need(&texts[in = 0], size + 1);
		memcpy(texts[0].b, c, size);
	}
	while (n--) {
		size_t stored;
		const uint8_t *c = chunk(l, chain[n], &stored);
		c = decode(c, stored, 8 * stored, &got);
		size = apply(texts[in].b, size, c, got, &texts[!in]);
		in = !in;
	}
	kept = rev, kept_in = in, kept_size = size;
	const uint8_t *e = entry(l, rev);
	int p1 = be32(e + 24), p2 = be32(e + 28);
	const uint8_t *a = p1 < 0 ? null : entry(l, p1) + 32, *b = p2 < 0 ? null : entry(l, p2) + 32;
	if (memcmp(a, b, 20) > 0) {
		const uint8_t *t = a;
		a = b, b = t;
	}
	uint8_t hash[20];
	SHA_CTX s;
	SHA1_Init(&s);
	SHA1_Update(&s, a, 20);
	SHA1_Update(&s, b, 20);
	SHA1_Update(&s, texts[in].b, size);
	SHA1_Final(hash, &s);
	if (memcmp(hash, e + 32, 20)) fail("wrong hash");
	return size;
}

static void openclose(struct log *l) { (void)l; }

static void readindex(struct log *l) {
	uint64_t s = 0;
	for (int i = 0; i < l->n; i++) {
		const uint8_t *e = entry(l, i);
		s += be64(e) + be32(e + 8) + be32(e + 12) + be32(e + 16) + be32(e + 20) + be32(e + 24) + be32(e + 28) + e[32];
	}
	sink = s;
}

static void readtip(struct log *l) {
	kept = -1;
	sink = text(l, l->n - 1);
}

static void readdata(struct log *l) {
	kept = -1;
	for (int i = 0; i < revs_n; i++) sink = text(l, revs[i]);
}

/* lookup builds a table of all nodes and finds one in it. */
static void lookup(struct log *l) {
	uint32_t mask = 1;
	while (mask < 2 * (uint32_t)l->n) mask *= 2;
	int32_t *table = malloc(4ull * mask--);
	memset(table, 255, 4ull * (mask + 1));
	for (int i = 0; i < l->n; i++) {
		uint32_t k = be32(entry(l, i) + 32) & mask;
		while (table[k] >= 0) k = (k + 1) & mask;
		table[k] = i;
	}
	const uint8_t *node = entry(l, revs[revs_n - 1]) + 32;
	uint32_t k = be32(node) & mask;
	while (memcmp(entry(l, table[k]) + 32, node, 20)) k = (k + 1) & mask;
	sink = table[k];
	free(table);
}

static void inflates(struct log *l) {
	size_t size, got, sum = 0;
	for (int i = 0; i < l->n; i++) {
		const uint8_t *c = chunk(l, i, &size);
		decode(c, size, 8 * size, &got);
		sum += got;
	}
	sink = sum;
}

static double now(clockid_t clock) {
	struct timespec t;
	clock_gettime(clock, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

int main(int argc, char **argv) {
	static const struct {
		const char *name;
		void (*run)(struct log *);
	} tasks[] = {{"openclose", openclose}, {"readindex", readindex}, {"readtip", readtip},
		     {"readdata", readdata},   {"lookup", lookup},       {"inflate", inflates}};
	if (argc < 4) return 2;
	radix = argv[1];
	double budget = atof(argv[3]);
	revs_n = argc - 4;
	revs = calloc(revs_n + 1, sizeof *revs);
	for (int i = 0; i < revs_n; i++) revs[i] = atoi(argv[4 + i]);
	inflateInit(&z);
	zstd = ZSTD_createDCtx();
	for (size_t i = 0; i < sizeof tasks / sizeof *tasks; i++) {
		if (strcmp(tasks[i].name, argv[2])) continue;
		struct log l;
		double begin = now(CLOCK_MONOTONIC), cpu = now(CLOCK_PROCESS_CPUTIME_ID);
		int n = 0;
		while (n < 50 && (!n || now(CLOCK_MONOTONIC) - begin < budget)) {
			start(&l);
			tasks[i].run(&l);
			end(&l);
			n++;
		}
		printf("%.0f\n", (now(CLOCK_PROCESS_CPUTIME_ID) - cpu) * 1e9 / n);
		return 0;
	}
	return 2;
}
