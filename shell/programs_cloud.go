package shell

import (
	"slices"
	"strings"

	"github.com/umpirehq/umpire"
	"github.com/umpirehq/umpire/shell/internal/scan"
)

const (
	worksInCloud     = "changes or reads out what an account holds"
	describesAccount = "describes what an account holds"
	tellsAccount     = "tells whose account it is"
)

// cloudTools are the clients of cloud providers and hosting services. Only describing verbs are
// known; all others may cost money, publish or delete.
var cloudTools = []program{
	// safe: aws s3 ls
	// asks: aws s3 rm s3://x
	{names: "aws", risk: umpire.High, consequence: sent, why: worksInCloud, check: checkAWS, opts: []option{
		{flags: "--no-paginate --no-cli-pager --no-cli-auto-prompt --recursive --human-readable --summarize --dry-run",
			values: "--output --query --region --profile --max-items --page-size --starting-token --color " +
				"--max-results --filters --filter --owners --log-group-name --log-group-name-prefix --cluster --name " +
				"--names --bucket --prefix --stack-name --instance-ids --function-name --cli-read-timeout " +
				"--cli-connect-timeout", does: plain},
		{flags: "--no-verify-ssl --no-sign-request", values: "--endpoint-url --ca-bundle", does: asks,
			consequence: sent, why: otherRoute},
		{values: "--cli-input-json --cli-input-yaml --outfile", does: asks, consequence: reversible,
			why: "reads or writes a file"},
	}, about: "--version"},
	// safe: gcloud config list
	// asks: gcloud auth print-access-token
	{
		names: "gcloud gsutil bq", risk: umpire.High, consequence: sent, why: worksInCloud, check: checkDescribing,
		about: "--version -v", opts: []option{
			{flags: "--quiet -q --uri", values: "--project --format --filter --limit --sort-by --page-size --region " +
				"--zone --regions --zones --verbosity", does: plain},
			{values: "--configuration --account --impersonate-service-account", does: asks, consequence: sent,
				why: "acts as another account"},
		},
	},
	// safe: az account show
	// asks: az login
	{names: "az", risk: umpire.High, consequence: sent, why: worksInCloud, check: checkDescribing, opts: []option{
		{flags: "--only-show-errors --all",
			values: "--output -o --query --subscription --resource-group -g --name -n --location -l --ids",
			does:   plain},
	}, about: "--version -v"},
	{
		names: "doctl heroku flyctl fly vercel netlify wrangler firebase supabase railway render surge amplify cdk " +
			"sam eb ibmcloud oci aliyun tccli hcloud linode-cli scw exo openstack eksctl pulumi copilot gsutil-cp " +
			"rclone s3cmd s5cmd mc b2 azcopy gh-pages eas expo",
		risk: umpire.High, consequence: sent, why: worksInCloud, lax: true, about: "--version --help",
	},
	{names: "serverless sls", risk: umpire.High, consequence: sent, why: worksInCloud, lax: true},
	{
		names: "claude codex gemini opencode aider cursor-agent copilot-cli goose amp q ollama llm", risk: umpire.High,
		consequence: sent, why: "starts an agent or a model, which can run anything", lax: true,
		about: "--version --help",
	},
}

// secretServices are services whose descriptions contain secrets.
const secretServices = "secretsmanager ssm sts kms iam sso cognito-idp acm-pca lightsail ecr ecr-public codeartifact " +
	"redshift rds-data secrets auth keyvault ad credential logging storage keys service-accounts appsettings " +
	"connection-string credentials tokens token secret"

// checkAWS lowers the risk of commands such as `aws SERVICE describe-…`, which only query.
func checkAWS(u *use) {
	words := u.takeOperands()
	if len(words) == 2 && words[0].text == "sts" && words[1].text == "get-caller-identity" {
		u.describes(tellsAccount)
		return
	}
	if len(words) < 2 || !words[0].known() || !words[1].known() || scan.HasField(secretServices, words[0].text) {
		return
	}
	service, verb := words[0].text, words[1].text
	describes := strings.HasPrefix(verb, "describe-") || strings.HasPrefix(verb, "list-") ||
		strings.HasPrefix(verb, "head-") ||
		strings.HasPrefix(verb, "get-") && !writesOrReveals(service, verb)
	for _, g := range u.given {
		if g.has && strings.Contains(g.value.text, "://") {
			u.raiseTo(umpire.Medium, sent, "sends what it names")
			return
		}
	}
	if slices.Contains(environmentsOfCloud, service+" "+verb) && u.got("--query") == nil {
		u.askSecret("prints the environment of what runs there, with whatever secrets are in it")
		return
	}
	if service == "s3" && verb == "ls" || describes && service != "s3" && len(words) == 2 {
		u.describes(describesAccount)
	}
}

// environmentsOfCloud are look-ups whose answers contain environments and connections.
var environmentsOfCloud = []string{
	"lambda list-functions", "lambda list-versions-by-function", "ecs describe-task-definition", "ecs describe-tasks",
	"batch describe-job-definitions", "batch describe-jobs",
	"amplify list-apps", "amplify get-app", "elasticbeanstalk describe-configuration-settings",
	"apprunner describe-service", "ec2 describe-launch-template-versions",
	"ec2 describe-instance-attribute", "glue get-connection", "glue get-connections",
	"lightsail get-container-services", "cognito-idp describe-user-pool-client",
}

// writesOrReveals reports whether a verb of aws that begins with get writes a file or reveals
// stored data.
func writesOrReveals(service, verb string) bool {
	return scan.HasField("s3api glacier polly lambda", service) || strings.Contains(verb, "token") ||
		strings.Contains(verb, "secret") ||
		strings.Contains(verb, "credential") || strings.Contains(verb, "password") ||
		strings.Contains(verb, "export") || strings.Contains(verb, "key") || strings.Contains(verb, "authorization")
}

// checkDescribing lowers the risk of `gcloud GROUP … list` and `az GROUP … show`.
func checkDescribing(u *use) {
	words := u.takeOperands()
	for _, g := range u.given {
		if g.has && strings.HasPrefix(g.value.text, "@") {
			u.raise(umpire.Medium, umpire.Say("takes %s from a file", g.value.display()))
			return
		}
	}
	for i, wd := range words {
		if !wd.known() || scan.HasField(secretServices, wd.text) || scan.HasField("ssh scp cp rsync run exec deploy "+
			"create delete update set add remove print-access-token mv rm start stop reset restart invoke call "+
			"export import apply patch enable disable submit rest login logout", wd.text) {
			return
		}
		if i > 0 && scan.HasField("describe show", wd.text) &&
			scan.HasField("functions run containerapp container", words[0].text) &&
			u.got("--format", "--query") == nil {
			u.askSecret("prints the environment of what runs there, with whatever secrets are in it")
			return
		}
		if i > 0 && scan.HasField("list describe show", wd.text) {
			u.describes(describesAccount)
			return
		}
	}
}

// describes lowers the risk of a use to that of looking, unless another check raised it.
func (u *use) describes(why umpire.Phrase) {
	if u.spoke == "" && !u.doubtful && len(u.unknown) == 0 {
		u.become(umpire.Low, why)
		return
	}
	u.become(umpire.Medium, "describes what an account holds, with options that are not known")
}
