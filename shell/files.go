package shell

import "github.com/umpirehq/umpire"

// fileTools are the programs that create, change, move and remove files.
var fileTools = []program{
	{names: "rm", risk: umpire.High, why: "deletes files for good", args: "delete…", opts: []option{
		{names: "-fiIvd --force --verbose --dir --interactive? --one-file-system --no-preserve-root --preserve-root?"},
		{names: "-rR --recursive", does: walks, why: "deletes everything below"}, aboutItself,
	}},
	{names: "cp", risk: umpire.Medium, why: "copies files", args: "read… write", opts: []option{
		{names: "-afilnpsuvxLPHdTZ --archive --force --interactive --link --no-clobber --no-dereference --dereference --preserve? --no-preserve= --parents --update? --verbose --one-file-system --symbolic-link --no-target-directory --attributes-only --reflink? --sparse= --strip-trailing-slashes --debug"},
		{names: "-rR --recursive", does: walks}, {names: "-b --backup? -S= --suffix="},
		{names: "-t= --target-directory=", does: writes | last}, aboutItself,
	}},
}
