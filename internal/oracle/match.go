package oracle

// Match pairs two texts by a longest common subsequence: for each line of a the index in b that it stays as, or -1.
func Match(a, b []string) []int {
	longest := make([][]int, len(a)+1)
	for i := range longest {
		longest[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				longest[i][j] = longest[i+1][j+1] + 1
			} else {
				longest[i][j] = max(longest[i+1][j], longest[i][j+1])
			}
		}
	}
	m := make([]int, len(a))
	j := 0
	for i := range a {
		m[i] = -1
		for j < len(b) && a[i] != b[j] && longest[i][j] == longest[i][j+1] {
			j++
		}
		if j < len(b) && a[i] == b[j] {
			m[i] = j
			j++
		}
	}
	return m
}
