/**
 * How many choices of a searchable list are drawn at a time. The library draws them even while the list is closed, and a workspace may have thousands of
 * keys: the browser would be busy for minutes.
 */
export const MOST_OPTIONS = 100
