/* The limit of a sequential read: inflate every chunk of a revlog, one after another, into one buffer, and nothing else.
   cc -O2 limit.c -lz -lzstd; limit RADIX prints the processor time in nanoseconds. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <zlib.h>
#include <zstd.h>

static const uint8_t *map(const char *radix, const char *end, size_t *size) {
	char path[4096];
	struct stat st;
	snprintf(path, sizeof path, "%s%s", radix, end);
	int fd = open(path, O_RDONLY);
	if (fd < 0) return NULL;
	fstat(fd, &st);
	*size = st.st_size;
	return mmap(0, *size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
}

static uint32_t be32(const uint8_t *p) {
	uint32_t v;
	memcpy(&v, p, 4);
	return __builtin_bswap32(v);
}

int main(int argc, char **argv) {
	size_t isize, dsize, cap = 64 << 20;
	if (argc < 2) return 2;
	const uint8_t *index = map(argv[1], ".i", &isize), *data = map(argv[1], ".d", &dsize);
	if (!index) return 1;
	int inlined = be32(index) >> 16 & 1;
	uint8_t *out = malloc(cap);
	memset(out, 0, cap);
	z_stream z = {0};
	inflateInit(&z);
	ZSTD_DCtx *d = ZSTD_createDCtx();
	struct timespec a, b;
	double best = 1e18;
	uint64_t total = 0;
	for (int turn = 0; turn < 3; turn++) {
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
		total = 0;
		size_t at = 0;
		for (size_t o = 0; o + 64 <= isize; o += 64) {
			uint32_t n = be32(index + o + 8);
			const uint8_t *c = inlined ? index + o + 64 : data + at;
			at += n;
			if (inlined) o += n;
			if (!n) continue;
			if (*c == 'x') {
				inflateReset(&z);
				z.next_in = (void *)c, z.avail_in = n, z.next_out = out, z.avail_out = cap;
				if (inflate(&z, Z_FINISH) != Z_STREAM_END) return 3;
				total += z.total_out;
			} else if (*c == '(') {
				size_t k = ZSTD_decompressDCtx(d, out, cap, c, n);
				if (ZSTD_isError(k)) return 4;
				total += k;
			} else {
				memcpy(out, c, n);
				total += n;
			}
		}
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
		double t = (b.tv_sec - a.tv_sec) * 1e9 + (b.tv_nsec - a.tv_nsec);
		if (t < best) best = t;
	}
	printf("%.0f %llu\n", best, (unsigned long long)total);
	return 0;
}
