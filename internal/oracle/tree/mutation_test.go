package tree

import "testing"

// The laws can fail: with any one definition made loose, random histories find a fault.
func TestLooseDefinitionsAreFoundOut(t *testing.T) {
	const most = 4000
	for name, l := range map[string]loose{
		"settling whether a file exists depends on the removal only": {noRegion: true},
		"a file shown aside may meet a newcomer":                     {noAside: true},
		"a claim of a path does not depend on who stood there":       {noSlot: true},
		"who stays when names meet is not confirmed":                 {noConfirm: true},
		"an undoing settles what is in its past":                     {undoSupersedes: true},
		"an edit settles what stands in the register":                {editWrites: true},
		"an edit depends on nothing in the register but its base":    {editAlone: true},
		"an edit does not depend on the open conflicts of its body":  {noRivals: true},
		"a base does not stand by its edits":                         {baseAlone: true},
		"an edit does not clash with another body":                   {editSilent: true},
	} {
		t.Run(name, func(t *testing.T) {
			found := false
			for seed := int64(0); seed < most && !found; seed++ {
				tell(seed, l, map[string]int{}, func(law, _ string) {
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
