// A crash test of a Go program: it saves pages by writing a draft, renaming it and syncing the directory.
//
//	saves write             the draft is synced before it is renamed: nothing is lost
//	saves write --no-sync   it is not: the name survives a power cut, the contents need not
//	saves check             status 1 if a page is not there that was reported as committed
package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

const pages = 30

func main() {
	folder := os.Getenv("DRIVELAB_MOUNT")
	switch {
	case len(os.Args) == 2 && os.Args[1] == "write":
		write(folder, true)
	case len(os.Args) == 3 && os.Args[1] == "write" && os.Args[2] == "--no-sync":
		write(folder, false)
	case len(os.Args) == 2 && os.Args[1] == "check":
		check(folder)
	default:
		fmt.Fprintln(os.Stderr, "usage: saves write [--no-sync] | saves check")
		os.Exit(2)
	}
}

// page is what a page contains.
func page(number int) []byte {
	return bytes.Repeat([]byte(fmt.Sprintf("page %3d\n", number)), 400)
}

func write(folder string, isSynced bool) {
	for number := 1; number <= pages; number++ {
		draft := filepath.Join(folder, "draft")
		file, err := os.Create(draft)
		must(err)
		_, err = file.Write(page(number))
		must(err)
		if isSynced {
			must(file.Sync())
		}
		must(file.Close())
		must(os.Rename(draft, name(folder, number)))
		sync(folder)
		fmt.Println("committed", number)
	}
}

// check ends with status 1 at a loss; whatever goes wrong otherwise has another status.
func check(folder string) {
	committed, _ := strconv.Atoi(os.Getenv("DRIVELAB_COMMITTED"))
	for number := 1; number <= committed; number++ {
		found, err := os.ReadFile(name(folder, number))
		if err != nil && !os.IsNotExist(err) {
			must(err)
		}
		if !bytes.Equal(found, page(number)) {
			fmt.Printf("page %d has %d bytes, not %d, and %d was committed\n", number, len(found), len(page(number)), committed)
			os.Exit(1)
		}
	}
}

func name(folder string, number int) string {
	return filepath.Join(folder, fmt.Sprintf("page-%d", number))
}

// sync makes the names in a directory durable.
func sync(folder string) {
	directory, err := os.Open(folder)
	must(err)
	must(directory.Sync())
	must(directory.Close())
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}
