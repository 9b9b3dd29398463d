package worktree

// findAliases is for file systems that fold case.
func (c *checkout) findAliases() error { return nil }
