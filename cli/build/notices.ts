import { existsSync, readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { NativePackages } from "./native-packages.ts";

type Notice = { title: string; licence: string; source: string; texts: string[] };
export type Notices = { text: string; packageCount: number; withoutLicenceFile: string[] };

type Manifest = {
  name: string;
  version: string;
  license?: string;
  homepage?: string;
  author?: string | { name: string };
  repository?: string | { url: string };
};

const LICENCE_FILE = /^(licen[cs]e|copying|notice|unlicense|ofl|third[-_]party)/i;
const RULE = "=".repeat(80);

/**
 * The licence texts of everything inside the executable.
 *
 * @param inputs paths of all bundled files, relative to `root`
 */
export async function collectNotices(
  root: string,
  inputs: readonly string[],
  native: NativePackages,
): Promise<Notices> {
  const packages = await Promise.all(
    packageFolders(root, inputs).map((folder) => packageNotice(root, folder)),
  );
  const addon = native.sharp === native.libvips ? [] : [await packageNotice(root, native.sharp)];
  const nativeNotices = [...addon, await libvipsNotice(root, native)];
  const notices = [await bunNotice(root), ...nativeNotices, ...packages, ...(await fontNotices(root))];
  const withoutLicenceFile = notices
    .filter((notice) => notice.texts.length === 0)
    .map((notice) => notice.title);
  const standardTexts = ["MIT", "Apache-2.0", "LGPL-2.0", "LGPL-2.1", "LGPL-3.0", "GPL-3.0"];
  const appendix = await Promise.all(
    standardTexts.map(
      async (id) => `${RULE}\nStandard text: ${id}\n${RULE}\n\n${await standardText(root, id)}`,
    ),
  );
  const text = [introduction(withoutLicenceFile), ...notices.map(render), ...appendix].join("\n\n");
  return { text: `${text.trimEnd()}\n`, packageCount: notices.length, withoutLicenceFile };
}

function packageFolders(root: string, inputs: readonly string[]): string[] {
  const folders = inputs.flatMap((input) => {
    const match = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/@][^/]*(?=\/)/.exec(input.replaceAll("\\", "/"));
    return match ? [join(root, match[0])] : [];
  });
  return [...new Set(folders)].filter((folder) => existsSync(join(folder, "package.json"))).sort();
}

async function packageNotice(root: string, folder: string): Promise<Notice> {
  const manifest: Manifest = await Bun.file(join(folder, "package.json")).json();
  const texts = await Promise.all(licenceFiles(folder).map((file) => Bun.file(join(folder, file)).text()));
  const repository = typeof manifest.repository === "string" ? manifest.repository : manifest.repository?.url;
  const author = typeof manifest.author === "string" ? manifest.author : manifest.author?.name;
  const location = manifest.homepage ?? repository ?? folder.slice(root.length + 1);
  return {
    title: `${manifest.name} ${manifest.version}`,
    licence: manifest.license ?? "not declared",
    source: author ? `${location} (${author})` : location,
    texts,
  };
}

/** libvips brings two dozen libraries; its package lists them with their licences in its README. */
async function libvipsNotice(root: string, native: NativePackages): Promise<Notice> {
  const notice = await packageNotice(root, native.libvips);
  const readme = await Bun.file(join(native.libvips, "README.md")).text();
  const versions: Record<string, string> = await Bun.file(join(native.libvips, "versions.json")).json();
  const list = Object.entries(versions).map(([name, version]) => `  ${name} ${version}`);
  return {
    ...notice,
    texts: [
      "libvips is used as a shared library: the executable carries it as a separate file, writes it to the native\n" +
        "library folder unchanged and loads it from there. To use a modified libvips, build svc from its sources with your\n" +
        "library in node_modules/@img/sharp-libvips-<platform>/lib; the build embeds and checks whatever it finds there.\n" +
        "Sources: https://github.com/libvips/libvips and https://github.com/lovell/sharp-libvips.\n" +
        "The LGPL-3.0 and the GPL-3.0 it builds on are printed at the end.",
      readme.slice(Math.max(0, readme.indexOf("## Licensing"))),
      `Versions:\n${list.join("\n")}`,
      ...notice.texts,
    ],
  };
}

async function bunNotice(root: string): Promise<Notice> {
  const page = await Bun.file(join(root, "node_modules/bun-types/docs/project/license.mdx")).text();
  const body = page.replace(/^---\n[\s\S]*?\n---\n/, "");
  return {
    title: `Bun ${Bun.version}`,
    licence: "MIT, with JavaScriptCore under LGPL-2.0 and others as listed",
    source: "https://github.com/oven-sh/bun",
    texts: [body, "The MIT licence and the LGPL-2.0 are printed at the end."],
  };
}

/** Fonts and other material in the source tree carry their licence beside them. */
async function fontNotices(root: string): Promise<Notice[]> {
  const source = join(root, "src");
  const files = await Array.fromAsync(new Bun.Glob("**/*").scan({ cwd: source, onlyFiles: true }));
  const folders = files.filter((file) => /\.(ttf|otf|woff2?)$/i.test(file)).map(dirname);
  const folderNames = [...new Set(folders)].sort();
  const fonts = folderNames.map(async (folder) => ({
    title: `Fonts in src/${folder}: ${files
      .filter((file) => dirname(file) === folder && /\.(ttf|otf|woff2?)$/i.test(file))
      .map((file) => basename(file))
      .sort()
      .join(", ")}`,
    licence: "as stated below",
    source: `src/${folder}`,
    texts: await Promise.all(
      licenceFiles(join(source, folder)).map((file) => Bun.file(join(source, folder, file)).text()),
    ),
  }));
  return Promise.all(fonts);
}

function licenceFiles(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter(
      (entry) => entry.isFile() && LICENCE_FILE.test(entry.name) && !/\.(m?[jt]s|json)$/.test(entry.name),
    )
    .map((entry) => entry.name)
    .sort();
}

function standardText(root: string, id: string): Promise<string> {
  return Bun.file(join(root, "cli/build/licences", `${id}.txt`)).text();
}

function introduction(withoutLicenceFile: readonly string[]): string {
  const lines = ["svc is MIT licensed. The executable contains the following third-party software."];
  if (withoutLicenceFile.length > 0) {
    lines.push(
      "",
      "These packages ship no licence file; the licence they declare applies, see the standard texts at the end:",
      ...withoutLicenceFile.map((title) => `  ${title}`),
    );
  }
  return lines.join("\n");
}

function render(notice: Notice): string {
  const head = `${RULE}\n${notice.title}\nLicence: ${notice.licence}\nSource: ${notice.source}\n${RULE}`;
  const texts = notice.texts.length > 0 ? notice.texts : ["(no licence file in the package)"];
  return [head, ...texts.map((text) => text.trim())].join("\n\n");
}
