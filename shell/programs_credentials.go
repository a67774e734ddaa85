package shell

import (
	"strings"

	"github.com/umpirehq/umpire/shell/internal/scan"
)

// credentials are the files below a home with which a program logs in to remote hosts. A
// command that may reach the network can read the files of the programs it names, but no other
// secrets.
var credentials = []struct{ programs, files string }{
	{"git", ".ssh .git-credentials .netrc .config/gh/hosts.yml"},
	{"ssh scp sftp rsync ssh-copy-id", ".ssh"},
	{"npm npx pnpm yarn", ".npmrc"},
	{"gh", ".config/gh/hosts.yml"},
	{"docker podman nerdctl", ".docker/config.json"},
	{"kubectl helm", ".kube/config"},
	{"aws", ".aws"},
	{"gcloud gsutil bq", ".config/gcloud"},
	{"az", ".azure"},
	{"cargo", ".cargo/credentials .cargo/credentials.toml"},
	{"pip uv poetry twine", ".netrc .pypirc"},
	{"terraform", ".terraform.d/credentials.tfrc.json"},
	{"psql pg_dump", ".pgpass"},
	{"mysql mysqldump", ".my.cnf"},
}

// Credentials returns the files and folders, below the home, with which a program logs in to
// remote hosts.
func Credentials(program string) []string {
	for _, c := range credentials {
		if scan.HasField(c.programs, program) {
			return strings.Fields(c.files)
		}
	}
	return nil
}
