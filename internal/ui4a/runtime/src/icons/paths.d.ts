declare module "lucide/dist/esm/icons/*" {
  const paths: readonly [tag: string, attributes: Record<string, string>][];
  export default paths;
}
