package tree

import "testing"

// The laws can fail: with any one definition made loose, random histories find a fault. Each search begins where one is known to
// be near, for the rarest takes a thousand histories to come by.
func TestLooseDefinitionsAreFoundOut(t *testing.T) {
	const most = 4000
	for _, k := range []struct {
		name string
		near int64
		loose
	}{
		{"settling whether a file exists depends on the removal only", 880, loose{noRegion: true}},
		{"a file shown aside may meet a newcomer", 510, loose{noAside: true}},
		{"a claim of a path does not depend on who stood there", 240, loose{noSlot: true}},
		{"who stays when names meet is not confirmed", 0, loose{noConfirm: true}},
		{"an undoing settles what is in its past", 0, loose{undoSupersedes: true}},
		{"an edit settles what stands in the register", 390, loose{editWrites: true}},
		{"an edit depends on nothing in the register", 100, loose{editAlone: true}},
		{"an edit does not depend on the open conflicts of its body", 9250, loose{noRivals: true}},
		{"an edit does not stand in the register", 0, loose{editFaint: true}},
		{"an edit does not clash with another body", 0, loose{editSilent: true}},
	} {
		t.Run(k.name, func(t *testing.T) {
			found := false
			for seed := k.near; seed < k.near+most && !found; seed++ {
				tell(seed, k.loose, map[string]int{}, func(law, _ string) {
					found = true
					t.Logf("seed %d: %s", seed, law)
				})
			}
			if !found {
				t.Error("no law found it out")
			}
		})
	}
}
