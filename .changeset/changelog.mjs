/** A line of the changelog is the text of its changeset: commits and authors are git's to tell. */
export default {
  getReleaseLine: async ({ summary }) => `- ${summary.trim().replace(/\n(?=.)/g, "\n  ")}`,
  getDependencyReleaseLine: async () => "",
};
