// The key of a one-time link stands behind its "#", which browsers send to nobody. It goes into the form, and out of the address.
const field = document.querySelector("[data-from-link]");
if (field && location.hash.length > 1) {
  field.value = decodeURIComponent(location.hash.slice(1));
  history.replaceState(null, "", location.pathname);
}
