package sensitive

import (
	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/internal/rulefile/wildcard"
)

// A Secret is one line of the table of secrets: files that hold passwords, keys and tokens. Reading one
// asks, even inside the project, because an agent may repeat it anywhere. A sandbox and a trial hide it.
// Listing such files, searching a folder above them, and testing whether one exists do not read them.
type Secret struct {
	ID umpire.RuleID
	// Patterns, and Except for exceptions to them, are in the rule language. They begin with / or ~/.
	Patterns []string
	Except   []string
	Says     umpire.Phrase
}

// Secrets is the table.
var Secrets = []Secret{
	{"secret-env", []string{"/**/.env", "/**/.env.*", "/**/*.env", "/**/.dev.vars", "/**/.envrc"}, []string{
		"/**/.env.{example,sample,template,dist,defaults}", "/**/.env.*.{example,sample,template,dist,defaults}",
		"/**/{example,sample,template,dist,defaults}.env",
	}, "an environment file; free are .env.example, .sample, .template, .dist and .defaults"},
	{"secret-keys", []string{
		"/**/*.{pem,key,p12,pfx,jks,keystore,kdbx,ppk,ovpn}", "/**/*_{rsa,dsa,ecdsa,ed25519}",
		"/**/id_{ecdsa,ed25519}_sk", "/etc/ssh/ssh_host_*_key", "/etc/ssl/private/**",
		"/etc/wireguard/**", "/etc/NetworkManager/system-connections/**",
	}, []string{
		"/**/{ca,cacert,cert,certs,certificate,chain,fullchain,public,pubkey}.pem",
	}, "a private key or a store of keys"},
	{"secret-logins", []string{
		"/**/{.netrc,_netrc,.pypirc,.npmrc,.git-credentials,.pgpass,.my.cnf,.htpasswd,.vault-token,.s3cfg,.boto," +
			".dockercfg,.mylogin.cnf,pgpass.conf,.vault_pass,.vault_pass.txt,.erlang.cookie,.terraformrc," +
			"local.settings.json," +
			"auth.json,tokens.json,.secrets,wp-config.php,gcp-key.json,vault-password*,*-adminsdk-*.json,*.tfvars," +
			"terraform.tfvars.json,.gemini/oauth_creds.json,.gem/credentials,client_secret*.json,credentials*.json," +
			".credentials.json,service-account*.json,*.tfstate,*.tfstate.backup}",
		"/**/{secret,secrets,credentials,passwords}." +
			"{yml,yaml,json,toml,csv,tsv,txt,ini,xml,conf,cfg,properties,xlsx,ods,db,sqlite}",
		"/**/{*_accessKeys.csv,*_credentials.csv,rootkey.csv,.authinfo,.netrc.gpg,.authinfo.gpg,.smbcredentials," +
			".Xauthority,.config/git/credentials,.config/pypoetry/auth.toml," +
			"Library/Application Support/pypoetry/auth.toml}",
		"~/{.claude.json,.yarnrc.yml,.yarnrc,.config/pip/pip.conf,.pip/pip.conf," +
			"Library/Application Support/pip/pip.conf,.bundle/config,.nuget/NuGet/NuGet.Config," +
			".config/NuGet/NuGet.Config,.composer/config.json,.condarc," +
			".dbt/profiles.yml}",
		"/run/secrets/**", "/var/run/secrets/**",
	}, nil, "names and passwords, or tokens"},
	{"secret-clouds", []string{
		"/**/{.aws/**,.azure/**,.config/gcloud/**,.docker/config.json,.kube/config,kubeconfig,.oci/**," +
			".config/rclone/rclone.conf,.config/doctl/config.yaml,.config/gh/hosts.yml,.cargo/credentials," +
			".cargo/credentials.toml,.terraform.d/credentials.tfrc.json,.m2/settings*.xml,.gradle/gradle.properties," +
			".config/hub,.config/github-copilot/**,.config/sops/**,.config/netlify/config.json,.fly/config.*," +
			".netlify/config.*}",
		"/**/{.kaggle/kaggle.json,.cache/huggingface/token,.cache/huggingface/stored_tokens,.huggingface/token," +
			".config/configstore/*.json,.supabase/access-token,.config/stripe/config.toml,.databrickscfg," +
			".sentryclirc,.snowsql/config,.config/hcloud/cli.toml,.aliyun/config.json,.config/ngrok/ngrok.yml," +
			".ngrok2/ngrok.yml,.wrangler/config/default.toml,.config/.wrangler/config/default.toml,.mc/config.json," +
			".snowflake/config.toml,.snowflake/connections.toml,.config/glab-cli/config.yml,.cf/config.json," +
			".config/openai/key,.config/io.datasette.llm/keys.json,.config/scw/config.yaml,.config/linode-cli," +
			".config/op/**,.config/heroku/**,.pulumi/credentials.json}",
	}, nil, "credentials of a cloud or a registry"},
	{"secret-home", []string{
		"/**/{.ssh/**,.gnupg/**,.password-store/**,.local/share/keyrings/**,Library/Keychains/**}",
		"/**/{.config/age/keys.txt,.config/solana/id.json,.config/filezilla/**,.thunderbird/**," +
			".bitcoin/**,.litecoin/**," +
			".dogecoin/**,.electrum/**,.ethereum/keystore/**," +
			"wallet.dat,.config/Slack/**,.config/discord/**,.config/Signal/**," +
			".config/Bitwarden/**,.local/share/atuin/key,.local/share/atuin/session,.local/share/kwalletd/**}",
	}, []string{"/**/.ssh/*.pub"}, "keys and passwords of a person"},
	{"secret-agents", []string{
		"~/{.claude/settings*.json,.cursor/mcp.json,.gemini/settings.json,.qwen/settings.json,.factory/mcp.json," +
			".kiro/settings/mcp.json,.copilot/mcp-config.json,.codeium/windsurf/mcp_config.json,.codex/config.toml," +
			".kimi-code/config.toml,.grok/user-settings.json,.aider.conf.yml,.config/opencode/opencode.json*," +
			".config/crush/crush.json,.config/amp/settings.json,.config/zed/settings.json,.continue/config.*," +
			".local/share/opencode/mcp-auth.json}",
	}, nil, "settings of an agent, which may hold keys of servers"},
	{"secret-browser", []string{
		"/**/.mozilla/**", "/**/.config/{google-chrome*,chromium,BraveSoftware,microsoft-edge*,vivaldi,opera}/**",
		"/**/snap/{firefox,chromium}/**",
		"/**/Library/Application Support/{Google/Chrome,Chromium,Firefox,BraveSoftware,Microsoft Edge,Vivaldi}/**",
		"/**/Library/{Safari,Cookies}/**",
		"/**/{cookies.txt,cookies.sqlite}",
		"/**/AppData/{Local,Roaming}/{Google/Chrome,Chromium,Mozilla,BraveSoftware,Microsoft/Edge}/**",
	}, nil, "a browser's profile: cookies and passwords"},
	{
		"secret-history", []string{"/**/.*_history", "/**/fish_history", "/**/.Rhistory", "/**/.dbshell"}, nil,
		"typed input, passwords too",
	},
	{
		"secret-umpire", []string{"~/.umpire", "/**/.umpire/{state,keys}/**"}, nil,
		"what answers umpire's questions, and what it keeps",
	},
	{
		"secret-process", []string{"/proc/*/{environ,mem}", "/proc/*/task/*/{environ,mem}"}, nil,
		"the environment or the memory of a process",
	},
}

// SecretFiles returns the patterns of Secrets and of the system's password files, with all braces
// expanded, and the patterns that Secrets excepts. It leaves out umpire's own files and processes.
func SecretFiles() (patterns, except []string) {
	patterns = []string{"/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/master.passwd"}
	for _, s := range Secrets {
		if s.ID == "secret-umpire" || s.ID == "secret-process" {
			continue
		}
		patterns, except = append(patterns, withoutBraces(s.Patterns)...), append(except, withoutBraces(s.Except)...)
	}
	return patterns, except
}

// withoutBraces expands the braces of patterns.
func withoutBraces(patterns []string) []string {
	var all []string
	for _, pattern := range patterns {
		plain, err := wildcard.ExpandBraces(pattern)
		if err != nil {
			panic(err) // the table is malformed, which a test would find
		}
		all = append(all, plain...)
	}
	return all
}
