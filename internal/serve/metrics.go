package serve

import (
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// bounds are the upper ends, in seconds, of the classes that requests are counted in by their time.
var bounds = [...]float64{0.005, 0.02, 0.1, 0.5, 2, 10, 60, 600}

// metrics counts what a server did, for Prometheus. No label comes from outside: else a peer could make up as many as it likes.
type metrics struct {
	began    time.Time
	inFlight atomic.Int64
	bytesIn  atomic.Int64
	bytesOut atomic.Int64

	mu       sync.Mutex
	requests map[[2]string]int64 // by verb and result
	refused  map[string]int64    // by reason, before the protocol
	reloads  map[[2]string]int64 // by what and result
	classes  [len(bounds) + 1]int64
	seconds  float64
}

func newMetrics(now time.Time) *metrics {
	return &metrics{began: now, requests: map[[2]string]int64{}, refused: map[string]int64{}, reloads: map[[2]string]int64{}}
}

func (m *metrics) request(verb, result string, took time.Duration, in, out int64) {
	m.bytesIn.Add(in)
	m.bytesOut.Add(out)
	s := took.Seconds()
	class := 0
	for class < len(bounds) && s > bounds[class] {
		class++
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests[[2]string{verb, result}]++
	m.classes[class]++
	m.seconds += s
}

func (m *metrics) refuse(why string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.refused[why]++
}

func (m *metrics) reload(what string, err error) {
	result := "ok"
	if err != nil {
		result = "failed"
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.reloads[[2]string{what, result}]++
}

// write prints everything in Prometheus' text format.
func (m *metrics) write(w io.Writer) {
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	head := func(name, kind, help string) { fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind) }
	one := func(name, kind, help string, v any) {
		head(name, kind, help)
		fmt.Fprintf(w, "%s %v\n", name, v)
	}
	one("oxy_start_time_seconds", "gauge", "When the server began, since 1970.", m.began.Unix())
	one("oxy_requests_in_flight", "gauge", "Requests that are being answered.", m.inFlight.Load())
	head("oxy_bytes_total", "counter", "Bytes of requests and replies, compressed as they travel.")
	fmt.Fprintf(w, "oxy_bytes_total{way=\"in\"} %d\noxy_bytes_total{way=\"out\"} %d\n", m.bytesIn.Load(), m.bytesOut.Load())
	one("oxy_heap_bytes", "gauge", "Memory that is in use.", mem.HeapInuse)
	one("oxy_system_bytes", "gauge", "Memory that the system gave.", mem.Sys)
	one("oxy_goroutines", "gauge", "Goroutines.", runtime.NumGoroutine())

	m.mu.Lock()
	defer m.mu.Unlock()
	head("oxy_requests_total", "counter", "Requests that were answered, by what was asked and how it ended.")
	for _, k := range sortedPairs(m.requests) {
		fmt.Fprintf(w, "oxy_requests_total{verb=%q,result=%q} %d\n", k[0], k[1], m.requests[k])
	}
	head("oxy_refused_total", "counter", "Requests that were not let in, by reason.")
	for _, k := range slices.Sorted(maps.Keys(m.refused)) {
		fmt.Fprintf(w, "oxy_refused_total{why=%q} %d\n", k, m.refused[k])
	}
	head("oxy_reloads_total", "counter", "Files that changed and were read anew.")
	for _, k := range sortedPairs(m.reloads) {
		fmt.Fprintf(w, "oxy_reloads_total{what=%q,result=%q} %d\n", k[0], k[1], m.reloads[k])
	}
	head("oxy_request_seconds", "histogram", "How long requests took.")
	n := int64(0)
	for i, b := range bounds {
		n += m.classes[i]
		fmt.Fprintf(w, "oxy_request_seconds_bucket{le=\"%g\"} %d\n", b, n)
	}
	n += m.classes[len(bounds)]
	fmt.Fprintf(w, "oxy_request_seconds_bucket{le=\"+Inf\"} %d\noxy_request_seconds_sum %g\noxy_request_seconds_count %d\n", n, m.seconds, n)
}

func sortedPairs(m map[[2]string]int64) [][2]string {
	return slices.SortedFunc(maps.Keys(m), func(a, b [2]string) int { return slices.Compare(a[:], b[:]) })
}
