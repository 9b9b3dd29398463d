package repo

// ConfigGet gives a setting's value and where it was set: "" when it is set nowhere. Keys are like `user.name`.
func (r *Repo) ConfigGet(key string) (value, from string, err error) { return "", "", errUnfinished }

// ConfigSet sets a setting in the repository's file, or with user in the person's own. An empty value removes it.
func (r *Repo) ConfigSet(key, value string, user bool) error { return errUnfinished }

// ConfigList lists all settings in order: key, value, where each was set.
func (r *Repo) ConfigList() ([][3]string, error) { return nil, errUnfinished }
