// Package hgbridge reads whole Mercurial repositories from their files, without Mercurial: changesets with their branches,
// phases, bookmarks and tags, manifests and file revisions. It also makes Mercurial's texts and node ids from their parts,
// so that an import can be proved: what comes out again has the node that went in. Formats of single files are package
// revlog's; how oxy keeps what is read is not known here.
package hgbridge
