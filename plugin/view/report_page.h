/* The page that `goheap report' writes, report.html, up to where its data begin. */
#ifndef GH_PLUGIN_VIEW_REPORT_PAGE_H
#define GH_PLUGIN_VIEW_REPORT_PAGE_H

extern const char gh_report_page[];

#endif
