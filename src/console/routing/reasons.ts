/** Beside buttons that are not for this role. */
export const VIEWERS_MAY_NOT = "Your role, viewer, changes nothing.";
