// Makes one script for browsers of a module of this folder.
import { build } from "esbuild";

const [entry, outfile] = process.argv.slice(2);
await build({ entryPoints: [entry], outfile, bundle: true, format: "esm", platform: "browser", target: "es2022", logLevel: "error" });
