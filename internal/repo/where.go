package repo

// Where tells which bookmarks and tags have a change, wherever in their logs, and whether the working copy's state does.
func (r *Repo) Where(n uint32) (*Names, error) {
	v, err := r.view()
	if err != nil {
		return nil, err
	}
	has, err := r.holders(n)
	if err != nil {
		return nil, err
	}
	out := &Names{Here: has(baseOf(v))}
	for name, s := range v.Bookmarks {
		if has(s) {
			out.Bookmarks = append(out.Bookmarks, name)
			out.Current = out.Current || name == v.Current
		}
	}
	for name, s := range v.Tags {
		if has(s) {
			out.Tags = append(out.Tags, name)
		}
	}
	out.sort(v.Current)
	return out, nil
}
