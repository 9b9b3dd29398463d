// Package bucket simulates a large team that shares one bucket: the code that oxy runs, on a network whose latency and bandwidth are modelled, in virtual time.
//
//	go test ./bench/bucket -v -timeout 60m -full
//
// makes a bucket with ten million changes and has ten thousand people push and pull for a day, then more and more often, until the bucket no longer keeps up.
package bucket
