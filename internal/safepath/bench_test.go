package safepath

import "testing"

func BenchmarkCheck(b *testing.B) {
	for _, path := range []string{
		"drivers/gpu/drm/amd/include/asic_reg/gc_9_0.h", "Documentation/admin-guide/.gitignore", "a/f.c", "straße/naïve.txt",
	} {
		b.Run(path, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := Check(path); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkFold(b *testing.B) {
	for _, name := range []string{"main.go", "README.md", "naïve.txt"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Fold(name)
			}
		})
	}
}
